/** Reads a typed array at an index known to be in range; compiles to a plain load. */
export function at(array: Float64Array | Int32Array | Uint8Array | Int16Array, index: number): number {
  return array[index] as number;
}
