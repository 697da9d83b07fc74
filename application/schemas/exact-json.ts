/** Stands for a number whose text says more than two decimals, however its nearest double looks. No schema accepts it. */
export class OverpreciseNumber {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }
}

/** A third decimal, or an exponent that may make one. Nearly no request has either, so nearly none pays for the second look. */
const MAY_BE_OVERPRECISE = /\.\d{3}|\d[eE][+-]?\d/;
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

const inspect = (_key: string, value: unknown, context?: { readonly source?: string }): unknown =>
  typeof value === 'number' && context?.source !== undefined && isOverprecise(context.source)
    ? new OverpreciseNumber(context.source)
    : value;

/** `JSON.parse` that does not let a double hide a third decimal. @throws SyntaxError */
export const parseExactJson = (text: string): unknown =>
  MAY_BE_OVERPRECISE.test(text) ? JSON.parse(text, inspect) : JSON.parse(text);
