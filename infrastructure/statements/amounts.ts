const CURRENCY = /^R\$\s*/;
/** Credit and debit, as banks mark them behind the amount. */
const SIDE = /[CD]$/i;
const LONGEST = 13;

const shapes = {
  ',': /^(?:\d{1,3}(?:\.\d{3})+|\d+)(?:,(\d{1,2}))?$/,
  '.': /^(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.(\d{1,2}))?$/,
} as const;

/** Takes a sign, brackets or a debit mark off; answers what is left, and whether money went out. */
const unsigned = (text: string): { readonly digits: string; readonly negative: boolean } => {
  let negative = /D$/i.test(text);
  let digits = text.replace(SIDE, '').trim();
  if (digits.startsWith('(') && digits.endsWith(')')) [digits, negative] = [digits.slice(1, -1).trim(), true];
  digits = digits.replace(CURRENCY, '');
  if (digits.startsWith('-') || digits.endsWith('-')) negative = true;
  if (/^[+-]/.test(digits)) digits = digits.slice(1).trimStart();
  if (digits.endsWith('-')) digits = digits.slice(0, -1).trimEnd();
  return { digits: digits.replace(CURRENCY, ''), negative };
};

/**
 * Reads amounts such as `1.234,56`, `R$ 1.234,56 D`, `(950,00)` or `-1234.5`.
 * @returns integer cents; undefined for anything that is no amount in this notation, such as thousands in groups of two
 */
export const amountReader = (decimal: '.' | ','): ((text: string) => number | undefined) => {
  const shape = shapes[decimal];
  return (text) => {
    const { digits, negative } = unsigned(text);
    const found = shape.exec(digits);
    if (!found) return undefined;
    const fraction = found[1] ?? '';
    const whole = (fraction === '' ? digits : digits.slice(0, -fraction.length - 1)).replace(/[.,]/g, '');
    if (whole.length > LONGEST) return undefined;
    const cents = Number(whole) * 100 + Number(fraction.padEnd(2, '0'));
    return negative && cents > 0 ? -cents : cents;
  };
};
