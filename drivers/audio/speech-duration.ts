/**
 * How long a sentence takes to say, for output without a synthesiser. The rates are those of an unhurried
 * announcement: about six Korean syllables, or fourteen Latin letters, a second; numbers are read out.
 */
const HANGUL_MS = 165;
const LETTER_MS = 72;
const DIGIT_MS = 320;
const SENTENCE_PAUSE_MS = 400;
const CLAUSE_PAUSE_MS = 200;
const SHORTEST_MS = 400;

export function speechDurationMs(text: string): number {
  let ms = 0;
  for (const char of text.normalize('NFC')) ms += charMs(char);
  return Math.max(SHORTEST_MS, Math.round(ms));
}

function charMs(char: string): number {
  if (/[가-힣]/u.test(char)) return HANGUL_MS;
  if (/\p{Nd}/u.test(char)) return DIGIT_MS;
  if (/[.!?…。]/u.test(char)) return SENTENCE_PAUSE_MS;
  if (/[,;:·、]/u.test(char)) return CLAUSE_PAUSE_MS;
  if (/\p{L}/u.test(char)) return LETTER_MS;
  return 0;
}
