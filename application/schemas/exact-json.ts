/** Text that every engine can store and give back as it was: well-formed Unicode without NUL. */
export const isSoundText = (text: string): boolean => text.isWellFormed() && !text.includes('\0');

/** Stands for a number whose text says more than two decimals, however its nearest double looks: it has three, and no amount has. */
const OVERPRECISE = '0.001';

/** Up to 15 significant digits survive a double, so only longer numbers need a second look. Nearly no request has one. */
const HAS_LONG_NUMBER = /\d[\d.]{15}/;
/** Texts, so that nothing inside of them is taken for a number, and numbers of that length. */
const TEXT_OR_LONG_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]{15,}/g;
const NUMBER = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

const withoutTrailingZeros = (digits: string): number => {
  let length = digits.length;
  while (length > 0 && digits.charCodeAt(length - 1) === 48) length -= 1;
  return length;
};

/** Whether the decimal text has significant digits beyond the second decimal place; `10.100` has not. */
const isOverprecise = (source: string): boolean => {
  const parts = NUMBER.exec(source);
  if (!parts) return false;
  const [, whole = '', fraction = '', exponent = '0'] = parts;
  const digits = whole + fraction;
  const significant = withoutTrailingZeros(digits);
  const decimals = fraction.length - (digits.length - significant) - Number(exponent);
  return significant > 0 && decimals > 2;
};

/**
 * `JSON.parse` that does not let a double hide a third decimal: the schema of amounts finds it, wherever one stands.
 * @throws SyntaxError
 */
export const parseExactJson = (text: string): unknown => {
  const value: unknown = JSON.parse(text);
  if (!HAS_LONG_NUMBER.test(text)) return value;
  const marked = text.replace(TEXT_OR_LONG_NUMBER, (token) => (isOverprecise(token) ? OVERPRECISE : token));
  return JSON.parse(marked);
};
