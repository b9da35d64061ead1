/** A map in half blocks: two rows of cells per line of text. */

export interface DrawableMap {
  resolution: number;
  width: number;
  height: number;
  origin: { x: number; y: number };
  /** Row-major from the lower left; −1 unknown, 0 free … 100 occupied. */
  cells: Int8Array;
  station: readonly [number, number, number] | null;
}

type Point = { x: number; y: number };

/** `columns`: of the terminal. `◉` is the robot, `⌂` the station. */
export function drawMap(map: DrawableMap, robot: Point | null, columns: number): string {
  const box = knownBox(map);
  const step = Math.max(1, Math.ceil((box.right - box.left + 1) / columns));
  const occupied = (column: number, row: number) => anyOccupied(map, column, row, step);
  const lines: string[] = [];
  for (let top = box.top; top >= box.bottom; top -= 2 * step) {
    let line = '';
    for (let column = box.left; column <= box.right; column += step) {
      const mark = markAt(map, robot, column, top, step);
      line += mark ?? block(occupied(column, top), occupied(column, top - step));
    }
    lines.push(line.trimEnd());
  }
  return lines.join('\n');
}

function block(upper: boolean, lower: boolean): string {
  if (upper && lower) return '█';
  if (upper) return '▀';
  return lower ? '▄' : ' ';
}

function markAt(
  map: DrawableMap,
  robot: Point | null,
  column: number,
  top: number,
  step: number,
): string | null {
  const inside = (p: Point) => {
    const c = Math.floor((p.x - map.origin.x) / map.resolution);
    const r = Math.floor((p.y - map.origin.y) / map.resolution);
    return c >= column && c < column + step && r <= top && r > top - 2 * step;
  };
  if (robot !== null && inside(robot)) return '◉';
  if (map.station !== null && inside({ x: map.station[0], y: map.station[1] })) return '⌂';
  return null;
}

function anyOccupied(map: DrawableMap, column: number, row: number, step: number): boolean {
  for (let r = row; r > row - step && r >= 0; r--) {
    for (let c = column; c < column + step && c < map.width; c++) {
      if ((map.cells[r * map.width + c] ?? -1) > 50) return true;
    }
  }
  return false;
}

function knownBox(map: DrawableMap): { left: number; right: number; bottom: number; top: number } {
  const box = { left: map.width, right: -1, bottom: map.height, top: -1 };
  map.cells.forEach((cell, i) => {
    if (cell < 0) return;
    const column = i % map.width;
    const row = Math.floor(i / map.width);
    box.left = Math.min(box.left, column);
    box.right = Math.max(box.right, column);
    box.bottom = Math.min(box.bottom, row);
    box.top = Math.max(box.top, row);
  });
  return box.right < 0 ? { left: 0, right: map.width - 1, bottom: 0, top: map.height - 1 } : box;
}
