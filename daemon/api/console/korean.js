/**
 * English sentences in Korean by a list of pairs. In a sentence `{x}` stands for anything and is put in as it is,
 * `{x!}` for a further sentence of the list. The first pair that fits the whole sentence counts.
 */
const PLACE = /\{(\w+)!?\}/g;
const quoted = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** A function from English to Korean, or to the English where there is no pair for it. */
export function koreanBy(pairs) {
  const compiled = pairs.map(([english, korean]) => {
    const names = [...english.matchAll(PLACE)].map(([, name]) => name);
    const pieces = english.split(/\{\w+!?\}/).map(quoted);
    return [new RegExp(`^${pieces.join('(.+?)')}$`, 's'), names, korean];
  });
  return function translate(message) {
    for (const [pattern, names, korean] of compiled) {
      const found = pattern.exec(message);
      if (found === null) continue;
      const values = Object.fromEntries(names.map((name, i) => [name, found[i + 1]]));
      return korean.replace(/\{(\w+)(!?)\}/g, (_, name, further) =>
        further === '!' ? translate(values[name]) : values[name],
      );
    }
    return message;
  };
}
