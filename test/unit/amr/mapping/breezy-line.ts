/** A line of a log in the format of the BreezySLAM examples. `ranges` in millimetres. */
export function breezyLine(values: {
  time: number;
  left: number;
  right: number;
  ranges?: readonly number[];
}): string {
  const { time, left, right, ranges = Array.from({ length: 682 }, () => 2000) } = values;
  const unused = Array.from({ length: 20 }, (_, i) => (i === 3 ? '170.1' : '255'));
  return [time, 14_710, left, right, ...unused, ...ranges].join(' ');
}
