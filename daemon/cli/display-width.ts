/** How many columns of a terminal a text takes. Hangul and other wide characters take two. */

const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/;

export function displayWidth(text: string): number {
  let width = 0;
  for (const character of text) width += WIDE.test(character) ? 2 : 1;
  return width;
}

/** The longest beginning that fits. */
export function cutToWidth(text: string, columns: number): string {
  let width = 0;
  let end = 0;
  for (const character of text) {
    width += WIDE.test(character) ? 2 : 1;
    if (width > columns) break;
    end += character.length;
  }
  return text.slice(0, end);
}
