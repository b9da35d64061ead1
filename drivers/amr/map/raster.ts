/** An image as the map reader needs it, whatever file it came from. */
export interface Raster {
  readonly width: number;
  readonly height: number;
  /** Samples per pixel: 1 grey, 2 grey and opacity, 3 colour, 4 colour and opacity. */
  readonly channels: 1 | 2 | 3 | 4;
  /** The value of white, and of full opacity. */
  readonly maxval: number;
  /** Row-major from the *upper* left corner. */
  readonly samples: Uint8Array | Uint16Array;
}
