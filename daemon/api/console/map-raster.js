/** The occupancy grid as pictures, one pixel per cell, row 0 at the top. */

/**
 * `map`: as `/api/map` gives it. The floor and what stands on it are two pictures, so that a room's tint can lie
 * between them; unknown cells are transparent in both.
 */
export function rasterise(map, colours) {
  const cells = decode(map.cells);
  return {
    floor: picture(map, cells, colours.floor, (value) => (value < 0 ? 0 : 1)),
    walls: picture(map, cells, colours.wall, (value) => Math.max(0, Math.min(1, value / 100))),
  };
}

function picture(map, cells, colour, opacity) {
  const canvas = document.createElement('canvas');
  canvas.width = map.width;
  canvas.height = map.height;
  const context = canvas.getContext('2d');
  const image = context.createImageData(map.width, map.height);
  const [red, green, blue] = rgb(colour);
  for (let row = 0; row < map.height; row++) {
    for (let column = 0; column < map.width; column++) {
      const at = ((map.height - 1 - row) * map.width + column) * 4;
      const alpha = 255 * opacity(cells[row * map.width + column]);
      image.data.set([red, green, blue, alpha], at);
    }
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

/** The known part of the map in metres: `[x0, y0, x1, y1]`. */
export function knownExtent(map) {
  const cells = decode(map.cells);
  let [left, bottom, right, top] = [map.width, map.height, -1, -1];
  for (let i = 0; i < cells.length; i++) {
    if (cells[i] < 0) continue;
    const column = i % map.width;
    const row = Math.floor(i / map.width);
    left = Math.min(left, column);
    right = Math.max(right, column);
    bottom = Math.min(bottom, row);
    top = Math.max(top, row);
  }
  if (right < 0) [left, bottom, right, top] = [0, 0, map.width - 1, map.height - 1];
  const { x, y } = map.origin;
  const metres = map.resolution;
  return [x + left * metres, y + bottom * metres, x + (right + 1) * metres, y + (top + 1) * metres];
}

const LABEL_STEP_M = 0.2;
const LABEL_HALF_M = [0.75, 0.28];

/** Where each room's name stands: near its middle, on as little furniture as possible. `[x, y]` per room. */
export function labelPlaces(map) {
  const cells = decode(map.cells);
  const occupied = (x, y) => {
    const column = Math.floor((x - map.origin.x) / map.resolution);
    const row = Math.floor((y - map.origin.y) / map.resolution);
    return cells[row * map.width + column] > 50 ? 1 : 0;
  };
  const cost = ([x, y], [cx, cy]) => {
    let covered = 0;
    for (let dx = -LABEL_HALF_M[0]; dx <= LABEL_HALF_M[0]; dx += map.resolution) {
      for (let dy = -LABEL_HALF_M[1]; dy <= LABEL_HALF_M[1]; dy += map.resolution)
        covered += occupied(x + dx, y + dy);
    }
    return covered * map.resolution ** 2 * 6 + Math.hypot(x - cx, y - cy);
  };
  return map.rooms.map(({ polygon }) => {
    const middle = centroid(polygon);
    const xs = polygon.map(([x]) => x);
    const ys = polygon.map(([, y]) => y);
    let best = middle;
    let least = cost(middle, middle);
    for (let x = Math.min(...xs) + 0.6; x < Math.max(...xs) - 0.6; x += LABEL_STEP_M) {
      for (let y = Math.min(...ys) + 0.3; y < Math.max(...ys) - 0.3; y += LABEL_STEP_M) {
        const price = cost([x, y], middle);
        if (price >= least || !inside([x, y], polygon)) continue;
        [best, least] = [[x, y], price];
      }
    }
    return best;
  });
}

/** Of the area, not of the vertices: a vertex more on one side moves nothing. */
function centroid(polygon) {
  let area = 0;
  let cx = 0;
  let cy = 0;
  polygon.forEach(([x0, y0], i) => {
    const [x1, y1] = polygon[(i + 1) % polygon.length];
    const cross = x0 * y1 - x1 * y0;
    area += cross;
    cx += (x0 + x1) * cross;
    cy += (y0 + y1) * cross;
  });
  if (Math.abs(area) < 1e-9) return polygon[0];
  return [cx / (3 * area), cy / (3 * area)];
}

function inside([x, y], polygon) {
  let within = false;
  polygon.forEach(([x0, y0], i) => {
    const [x1, y1] = polygon[(i + 1) % polygon.length];
    if (y0 > y !== y1 > y && x < ((x1 - x0) * (y - y0)) / (y1 - y0) + x0) within = !within;
  });
  return within;
}

function decode(base64) {
  const text = atob(base64);
  const bytes = new Int8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

function rgb(colour) {
  const hex = colour.trim().replace('#', '');
  return [0, 2, 4].map((i) => Number.parseInt(hex.slice(i, i + 2), 16));
}
