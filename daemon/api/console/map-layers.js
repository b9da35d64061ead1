/** What is drawn on the map, layer by layer. `view` turns metres in the map frame into CSS pixels. */

const ROBOT_RADIUS_M = 0.17;
const ROOM_COLOURS = ['a', 'b', 'c', 'd', 'e', 'f'];

export function drawGrid(g, view, map, picture) {
  const size = view.scale * map.resolution;
  g.save();
  g.translate(...view.toScreen(map.origin.x, map.origin.y));
  g.rotate(-map.origin.theta);
  g.imageSmoothingEnabled = size < 1;
  g.drawImage(picture, 0, -map.height * size, map.width * size, map.height * size);
  g.restore();
}

function trace(g, view, points) {
  g.beginPath();
  points.forEach(([x, y], i) => {
    const at = view.toScreen(x, y);
    if (i === 0) g.moveTo(...at);
    else g.lineTo(...at);
  });
}

export function drawRooms(g, view, map, colours) {
  map.rooms.forEach((room, i) => {
    trace(g, view, room.polygon);
    g.closePath();
    g.fillStyle = `rgb(${colours[`room-${ROOM_COLOURS[i % ROOM_COLOURS.length]}`]} / ${colours['room-alpha']})`;
    g.fill();
  });
}

/** Names last of all, so that nothing covers them; with a halo, so that they read on anything. */
export function drawRoomNames(g, view, rooms, places, colours, font) {
  g.font = `600 ${Math.max(12, Math.min(16, view.scale * 0.22))}px ${font}`;
  g.textAlign = 'center';
  g.textBaseline = 'middle';
  g.lineJoin = 'round';
  g.lineWidth = 4;
  rooms.forEach((room, i) => {
    const at = view.toScreen(...places[i]);
    g.strokeStyle = colours.floor;
    g.strokeText(room.name, ...at);
    g.fillStyle = colours.label;
    g.fillText(room.name, ...at);
  });
}

export function drawKeepout(g, view, map, colours) {
  for (const { polygon } of map.keepout) {
    g.save();
    trace(g, view, polygon);
    g.closePath();
    g.clip();
    g.strokeStyle = colours.keepout;
    g.globalAlpha = 0.5;
    g.lineWidth = 1.5;
    const corners = polygon.map(([x, y]) => view.toScreen(x, y));
    const xs = corners.map(([x]) => x);
    const ys = corners.map(([, y]) => y);
    const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    g.beginPath();
    for (let x = left - (bottom - top); x < right; x += 9) {
      g.moveTo(x, bottom);
      g.lineTo(x + (bottom - top), top);
    }
    g.stroke();
    g.restore();
    g.save();
    trace(g, view, polygon);
    g.closePath();
    g.strokeStyle = colours.keepout;
    g.lineWidth = 1.5;
    g.setLineDash([5, 4]);
    g.stroke();
    g.restore();
  }
}

/** The station as seen from above: a plate behind the docked robot, and a bolt. */
export function drawStation(g, view, map, colours) {
  if (map.station === null) return;
  const [x, y, theta] = map.station;
  const back = ROBOT_RADIUS_M + 0.04;
  const [px, py] = view.toScreen(x + back * Math.cos(theta), y + back * Math.sin(theta));
  const half = Math.max(9, view.scale * 0.17);
  g.save();
  g.translate(px, py);
  g.rotate(-theta);
  g.fillStyle = colours.station;
  g.beginPath();
  g.roundRect(-half * 0.32, -half, half * 0.64, half * 2, half * 0.25);
  g.fill();
  g.restore();
  const [bx, by] = view.toScreen(x, y);
  g.save();
  g.translate(bx, by);
  g.scale(half / 12, half / 12);
  g.fillStyle = colours.station;
  g.globalAlpha = 0.9;
  g.fill(new Path2D('M1 -9 -6 1h5l-1 8 7-10h-5z'));
  g.restore();
}

export function drawTrail(g, view, trail, colours) {
  if (trail.length < 2) return;
  g.save();
  trace(g, view, trail);
  g.strokeStyle = colours.trail;
  g.lineWidth = 2.5;
  g.lineCap = 'round';
  g.lineJoin = 'round';
  g.setLineDash([1, 6]);
  g.stroke();
  g.restore();
}

export function drawPath(g, view, path, colours) {
  if (path.length < 2) return;
  g.save();
  trace(g, view, path);
  g.strokeStyle = colours.path;
  g.lineWidth = 3.5;
  g.lineCap = 'round';
  g.lineJoin = 'round';
  g.globalAlpha = 0.9;
  g.stroke();
  const [x, y] = view.toScreen(...path[path.length - 1]);
  g.globalAlpha = 1;
  g.fillStyle = colours.floor;
  g.lineWidth = 3;
  g.beginPath();
  g.arc(x, y, 6.5, 0, 2 * Math.PI);
  g.fill();
  g.stroke();
  g.fillStyle = colours.path;
  g.beginPath();
  g.arc(x, y, 2.4, 0, 2 * Math.PI);
  g.fill();
  g.restore();
}

export function drawScan(g, view, scan, colours) {
  g.fillStyle = colours.scan;
  const size = Math.max(1.5, Math.min(3, view.scale * 0.035));
  scan.ranges.forEach((range, i) => {
    if (range === null) return;
    const angle = scan.from.theta + scan.angle_min + i * scan.angle_increment;
    const [x, y] = view.toScreen(
      scan.from.x + range * Math.cos(angle),
      scan.from.y + range * Math.sin(angle),
    );
    g.fillRect(x - size / 2, y - size / 2, size, size);
  });
}

/** `sure`: localised and fresh. An uncertain pose is an empty, dashed ring: somewhere around here. */
export function drawRobot(g, view, pose, sure, colours) {
  const [x, y] = view.toScreen(pose.x, pose.y);
  const radius = Math.max(10, ROBOT_RADIUS_M * view.scale);
  g.save();
  g.translate(x, y);
  g.rotate(-pose.theta);
  if (sure) {
    g.shadowColor = 'rgb(0 0 0 / 30%)';
    g.shadowBlur = 8;
    g.shadowOffsetY = 2;
  }
  g.beginPath();
  g.arc(0, 0, radius, 0, 2 * Math.PI);
  g.fillStyle = sure ? colours.robot : colours.floor;
  g.fill();
  g.shadowColor = 'transparent';
  g.lineWidth = 2.5;
  if (!sure) g.setLineDash([4, 4]);
  g.strokeStyle = sure ? colours['robot-edge'] : colours.robot;
  g.stroke();
  g.setLineDash([]);
  g.fillStyle = sure ? colours['robot-edge'] : colours.robot;
  g.beginPath();
  g.moveTo(radius * 0.66, 0);
  g.lineTo(-radius * 0.38, radius * 0.46);
  g.lineTo(-radius * 0.16, 0);
  g.lineTo(-radius * 0.38, -radius * 0.46);
  g.closePath();
  g.fill();
  g.restore();
}

/** One metre, or more where a metre is too short to see. */
export function drawScale(g, view, height, colours, font) {
  const metres = [0.5, 1, 2, 5, 10, 20].find((m) => m * view.scale >= 44) ?? 50;
  const width = metres * view.scale;
  const [x, y] = [14, height - 14];
  g.strokeStyle = colours.label;
  g.globalAlpha = 0.6;
  g.lineWidth = 1.5;
  g.beginPath();
  g.moveTo(x, y - 5);
  g.lineTo(x, y);
  g.lineTo(x + width, y);
  g.lineTo(x + width, y - 5);
  g.stroke();
  g.font = `500 11.5px ${font}`;
  g.textAlign = 'center';
  g.textBaseline = 'bottom';
  g.fillStyle = colours.label;
  g.fillText(`${metres} m`, x + width / 2, y - 4);
  g.globalAlpha = 1;
}
