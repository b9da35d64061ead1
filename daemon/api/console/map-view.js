/** The map on its canvas: fitting, panning, zooming by pointer and keyboard, and drawing when something changed. */
import {
  drawGrid,
  drawKeepout,
  drawPath,
  drawRobot,
  drawRoomNames,
  drawRooms,
  drawScale,
  drawScan,
  drawStation,
  drawTrail,
} from './map-layers.js';
import { knownExtent, labelPlaces, rasterise } from './map-raster.js';

const PADDING = 22;
const MIN_SCALE = 8;
const MAX_SCALE = 400;
const FRAME_MS = 200;
const TRAIL_POINTS = 1500;
const TRAIL_STEP_M = 0.05;
const JUMP_M = 0.5;
const COLOURS = [
  'floor',
  'wall',
  'scan',
  'path',
  'trail',
  'keepout',
  'label',
  'robot',
  'robot-edge',
  'station',
];

export class MapView {
  layers = { path: true, scan: true, trail: true, rooms: true, keepout: true };
  followRobot = false;
  /** Called whenever fitting or following may have changed. */
  onMoved = () => {};
  #canvas;
  #map = null;
  #raster = null;
  #extent = null;
  #labels = [];
  #colours = {};
  #font = '';
  #centre = [0, 0];
  #scale = 50;
  #fitted = true;
  #robot = { pose: null, sure: false, scan: null, path: [] };
  #trail = [];
  #motion = null;
  #queued = false;
  #pointers = new Map();
  #still = matchMedia('(prefers-reduced-motion: reduce)');

  constructor(canvas) {
    this.#canvas = canvas;
    new ResizeObserver(() => this.#resized()).observe(canvas);
    this.#listen();
    this.restyle();
  }

  /** Reads the colours again, after the brightness changed. */
  restyle() {
    const style = getComputedStyle(document.documentElement);
    for (const name of COLOURS) this.#colours[name] = style.getPropertyValue(`--map-${name}`).trim();
    for (const letter of 'abcdef') {
      this.#colours[`room-${letter}`] = style.getPropertyValue(`--room-${letter}`).trim();
    }
    this.#colours['room-alpha'] = style.getPropertyValue('--room-alpha').trim();
    this.#font = getComputedStyle(document.body).fontFamily;
    if (this.#map !== null) this.#raster = rasterise(this.#map, this.#colours);
    this.invalidate();
  }

  setMap(map) {
    this.#map = map;
    this.#trail = [];
    this.#raster = map === null ? null : rasterise(map, this.#colours);
    this.#extent = map === null ? null : knownExtent(map);
    this.#labels = map === null ? [] : labelPlaces(map);
    this.fit();
  }

  /** `pose` null: unknown. `sure`: fresh and localised. `scan.from`: where the robot was when it was taken. */
  setRobot({ pose, sure, scan, path }) {
    const before = this.#shownPose();
    this.#robot = { pose, sure, scan, path };
    this.#motion =
      before === null ||
      pose === null ||
      this.#still.matches ||
      Math.hypot(pose.x - before.x, pose.y - before.y) > JUMP_M
        ? null
        : { from: before, since: performance.now() };
    if (pose !== null && sure) this.#extendTrail(pose);
    this.invalidate();
  }

  #extendTrail({ x, y }) {
    const last = this.#trail[this.#trail.length - 1];
    const step = last === undefined ? 0 : Math.hypot(x - last[0], y - last[1]);
    if (last !== undefined && step < TRAIL_STEP_M) return;
    // Nobody drives that far between two frames: the robot was carried, or found its place again.
    if (step > JUMP_M) this.#trail = [];
    this.#trail.push([x, y]);
    if (this.#trail.length > TRAIL_POINTS) this.#trail.shift();
  }

  fit() {
    this.#fitted = true;
    this.followRobot = false;
    this.onMoved();
    if (this.#extent === null) return;
    const [x0, y0, x1, y1] = this.#extent;
    const { clientWidth: width, clientHeight: height } = this.#canvas;
    this.#scale = Math.max(
      MIN_SCALE,
      Math.min((width - 2 * PADDING) / (x1 - x0), (height - 2 * PADDING) / (y1 - y0)),
    );
    this.#centre = [(x0 + x1) / 2, (y0 + y1) / 2];
    this.invalidate();
  }

  /** Zooms about a point of the canvas, by default its middle. */
  zoom(factor, at = [this.#canvas.clientWidth / 2, this.#canvas.clientHeight / 2]) {
    const before = this.#toMap(...at);
    this.#scale = Math.min(MAX_SCALE, Math.max(MIN_SCALE, this.#scale * factor));
    const after = this.#toMap(...at);
    this.#centre = [this.#centre[0] + before[0] - after[0], this.#centre[1] + before[1] - after[1]];
    this.#fitted = false;
    this.invalidate();
  }

  pan(dx, dy) {
    this.#centre = [this.#centre[0] - dx / this.#scale, this.#centre[1] + dy / this.#scale];
    this.#fitted = false;
    this.followRobot = false;
    this.onMoved();
    this.invalidate();
  }

  setFollow(follow) {
    this.followRobot = follow;
    this.#fitted = false;
    this.onMoved();
    this.invalidate();
  }

  invalidate() {
    if (this.#queued) return;
    this.#queued = true;
    requestAnimationFrame(() => {
      this.#queued = false;
      this.#draw();
    });
  }

  #resized() {
    const ratio = window.devicePixelRatio || 1;
    this.#canvas.width = Math.round(this.#canvas.clientWidth * ratio);
    this.#canvas.height = Math.round(this.#canvas.clientHeight * ratio);
    if (this.#fitted) this.fit();
    this.invalidate();
  }

  #toScreen(x, y) {
    const { clientWidth: width, clientHeight: height } = this.#canvas;
    return [
      width / 2 + (x - this.#centre[0]) * this.#scale,
      height / 2 - (y - this.#centre[1]) * this.#scale,
    ];
  }

  #toMap(px, py) {
    const { clientWidth: width, clientHeight: height } = this.#canvas;
    return [
      this.#centre[0] + (px - width / 2) / this.#scale,
      this.#centre[1] - (py - height / 2) / this.#scale,
    ];
  }

  /** Between two frames the robot is shown on its way from one to the next. */
  #shownPose() {
    const { pose } = this.#robot;
    if (pose === null || this.#motion === null) return pose;
    const share = Math.min(1, (performance.now() - this.#motion.since) / FRAME_MS);
    if (share >= 1) {
      this.#motion = null;
      return pose;
    }
    const { from } = this.#motion;
    const turn = Math.atan2(Math.sin(pose.theta - from.theta), Math.cos(pose.theta - from.theta));
    return {
      x: from.x + (pose.x - from.x) * share,
      y: from.y + (pose.y - from.y) * share,
      theta: from.theta + turn * share,
    };
  }

  #draw() {
    const g = this.#canvas.getContext('2d');
    const ratio = window.devicePixelRatio || 1;
    const { clientWidth: width, clientHeight: height } = this.#canvas;
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.clearRect(0, 0, width, height);
    const pose = this.#shownPose();
    if (this.followRobot && pose !== null) this.#centre = [pose.x, pose.y];
    const view = { scale: this.#scale, toScreen: (x, y) => this.#toScreen(x, y) };
    if (this.#map !== null) this.#drawMap(g, view);
    const { scan, sure, path } = this.#robot;
    if (this.layers.trail) drawTrail(g, view, this.#trail, this.#colours);
    if (this.layers.path) drawPath(g, view, path, this.#colours);
    if (this.layers.scan && scan !== null && scan.from !== null) drawScan(g, view, scan, this.#colours);
    if (this.#map !== null && this.layers.rooms) {
      drawRoomNames(g, view, this.#map.rooms, this.#labels, this.#colours, this.#font);
    }
    if (pose !== null) drawRobot(g, view, pose, sure, this.#colours);
    if (this.#map !== null) drawScale(g, view, height, this.#colours, this.#font);
    if (this.#motion !== null) this.invalidate();
  }

  #drawMap(g, view) {
    drawGrid(g, view, this.#map, this.#raster.floor);
    if (this.layers.rooms) drawRooms(g, view, this.#map, this.#colours);
    drawGrid(g, view, this.#map, this.#raster.walls);
    if (this.layers.keepout) drawKeepout(g, view, this.#map, this.#colours);
    drawStation(g, view, this.#map, this.#colours);
  }

  #listen() {
    const canvas = this.#canvas;
    canvas.addEventListener('pointerdown', (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.#pointers.set(event.pointerId, [event.offsetX, event.offsetY]);
    });
    canvas.addEventListener('pointermove', (event) => this.#dragged(event));
    for (const name of ['pointerup', 'pointercancel']) {
      canvas.addEventListener(name, (event) => this.#pointers.delete(event.pointerId));
    }
    canvas.addEventListener(
      'wheel',
      (event) => {
        if (!event.ctrlKey && document.activeElement !== canvas) return;
        event.preventDefault();
        this.zoom(Math.exp(-event.deltaY * 0.0015), [event.offsetX, event.offsetY]);
      },
      { passive: false },
    );
    canvas.addEventListener('keydown', (event) => this.#pressed(event));
  }

  #dragged(event) {
    const last = this.#pointers.get(event.pointerId);
    if (last === undefined) return;
    const next = [event.offsetX, event.offsetY];
    const others = [...this.#pointers].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
    this.#pointers.set(event.pointerId, next);
    const other = others[0];
    if (other === undefined) return this.pan(next[0] - last[0], next[1] - last[1]);
    const spread = (at) => Math.hypot(at[0] - other[0], at[1] - other[1]);
    const middle = [(next[0] + other[0]) / 2, (next[1] + other[1]) / 2];
    this.zoom(spread(next) / Math.max(1, spread(last)), middle);
    return undefined;
  }

  #pressed(event) {
    const act = {
      ArrowLeft: () => this.pan(40, 0),
      ArrowRight: () => this.pan(-40, 0),
      ArrowUp: () => this.pan(0, 40),
      ArrowDown: () => this.pan(0, -40),
      '+': () => this.zoom(1.25),
      '=': () => this.zoom(1.25),
      '-': () => this.zoom(0.8),
      0: () => this.fit(),
    }[event.key];
    if (act === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  }
}
