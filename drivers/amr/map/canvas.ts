import type { Picture } from './png-encode.js';

/** Red, green, blue, 0…255. */
export type Colour = readonly [number, number, number];

/** A position in pixels from the upper left corner; pixel (0, 0) covers [0, 1) × [0, 1). */
export interface Pixel {
  x: number;
  y: number;
}

/** A picture that is drawn on; whatever lies outside of it is left out. */
export class Canvas implements Picture {
  readonly width: number;
  readonly height: number;
  readonly rgb: Uint8Array;

  constructor(width: number, height: number) {
    this.width = width;
    this.height = height;
    this.rgb = new Uint8Array(width * height * 3);
  }

  /** `opacity`: 0 leaves what is there, 1 covers it. */
  set(x: number, y: number, colour: Colour, opacity = 1): void {
    if (x < 0 || y < 0 || x >= this.width || y >= this.height) return;
    const at = (y * this.width + x) * 3;
    for (let c = 0; c < 3; c++) {
      const was = this.rgb[at + c] ?? 0;
      this.rgb[at + c] = Math.round(was + ((colour[c] ?? 0) - was) * opacity);
    }
  }

  disc(centre: Pixel, radius: number, colour: Colour): void {
    for (let y = Math.floor(centre.y - radius); y <= centre.y + radius; y++) {
      for (let x = Math.floor(centre.x - radius); x <= centre.x + radius; x++) {
        const away = Math.hypot(x + 0.5 - centre.x, y + 0.5 - centre.y);
        // The last pixel of the edge is mixed with what is below, so that edges are not jagged.
        this.set(x, y, colour, Math.min(1, Math.max(0, radius + 0.5 - away)));
      }
    }
  }

  /** A line with round ends. */
  line(from: Pixel, to: Pixel, width: number, colour: Colour): void {
    const half = width / 2;
    const reach = half + 1;
    const dx = to.x - from.x;
    const dy = to.y - from.y;
    const square = dx * dx + dy * dy;
    const bottom = Math.min(this.height - 1, Math.ceil(Math.max(from.y, to.y) + reach));
    const right = Math.min(this.width - 1, Math.ceil(Math.max(from.x, to.x) + reach));
    for (let y = Math.max(0, Math.floor(Math.min(from.y, to.y) - reach)); y <= bottom; y++) {
      for (let x = Math.max(0, Math.floor(Math.min(from.x, to.x) - reach)); x <= right; x++) {
        const px = x + 0.5 - from.x;
        const py = y + 0.5 - from.y;
        const along = square === 0 ? 0 : Math.min(1, Math.max(0, (px * dx + py * dy) / square));
        const away = Math.hypot(px - along * dx, py - along * dy);
        if (away < half + 0.5) this.set(x, y, colour, Math.min(1, half + 0.5 - away));
      }
    }
  }

  polyline(points: readonly Pixel[], width: number, colour: Colour): void {
    points.forEach((point, i) => {
      const before = points[i - 1];
      if (before !== undefined) this.line(before, point, width, colour);
    });
  }
}
