import type { Polygon } from '../../../config/contracts/geometry.js';
import type { GridFrame } from './grid-frame.js';

/**
 * Calls `visit` with the index of each cell whose centre lies in the polygon, and of each cell its outline passes
 * through: a virtual wall drawn as a thin polygon must not slip between centres.
 */
export function fillPolygon(frame: GridFrame, polygon: Polygon, visit: (index: number) => void): void {
  const vertices = polygon.map((p) => frame.toGrid(p));
  const ys = vertices.map((v) => v.y);
  const firstRow = Math.max(0, Math.floor(Math.min(...ys)));
  const lastRow = Math.min(frame.height - 1, Math.ceil(Math.max(...ys)));
  for (let row = firstRow; row <= lastRow; row++) {
    const crossings = rowCrossings(vertices, row + 0.5);
    for (let k = 0; k + 1 < crossings.length; k += 2) {
      const from = Math.max(0, Math.ceil((crossings[k] ?? 0) - 0.5));
      const to = Math.min(frame.width - 1, Math.floor((crossings[k + 1] ?? 0) - 0.5));
      for (let x = from; x <= to; x++) visit(row * frame.width + x);
    }
  }
  traceOutline(frame, vertices, visit);
}

function rowCrossings(vertices: Polygon, y: number): number[] {
  const xs: number[] = [];
  let a = vertices[vertices.length - 1];
  for (const b of vertices) {
    if (a !== undefined && a.y > y !== b.y > y) xs.push(a.x + ((y - a.y) * (b.x - a.x)) / (b.y - a.y));
    a = b;
  }
  return xs.sort((p, q) => p - q);
}

function traceOutline(frame: GridFrame, vertices: Polygon, visit: (index: number) => void): void {
  let a = vertices[vertices.length - 1];
  for (const b of vertices) {
    if (a !== undefined) {
      const steps = Math.max(1, Math.ceil(2 * Math.hypot(b.x - a.x, b.y - a.y)));
      // Far off the grid nothing is drawn; a polygon may reach beyond the map, but not without end.
      for (let k = 0; k <= Math.min(steps, 100_000); k++) {
        const x = a.x + ((b.x - a.x) * k) / steps;
        const y = a.y + ((b.y - a.y) * k) / steps;
        const index = frame.indexOf(Math.floor(x), Math.floor(y));
        if (index >= 0) visit(index);
      }
    }
    a = b;
  }
}
