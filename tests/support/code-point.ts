import fc from 'fast-check';

const [SURROGATES, AFTER_THEM, LAST] = [0xd800, 0xe000, 0x10ffff] as const;

/** Any character of Unicode: what fast-check's unit `binary` is, without its table of a million that each suite would make anew. */
export const codePoint = fc
  .integer({ min: 0, max: LAST - (AFTER_THEM - SURROGATES) })
  .map((n) => String.fromCodePoint(n < SURROGATES ? n : n + (AFTER_THEM - SURROGATES)));
