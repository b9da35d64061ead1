/** Counters as every part reports them: names in snake_case, totals since the start of its process. */
type Counters = Record<string, number>;

/** The counters of a part under the name of the part: `prefixed('base', {opens: 1})` is `{base_opens: 1}`. */
export function prefixed(part: string, counters: Counters): Counters {
  return Object.fromEntries(Object.entries(counters).map(([name, value]) => [`${part}_${name}`, value]));
}
