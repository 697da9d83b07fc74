const CPF_WEIGHTS = [11, 10, 9, 8, 7, 6, 5, 4, 3, 2];
const CNPJ_WEIGHTS = [6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2];

/** Modulo 11 over the characters' distance from `0`, so that letters of a CNPJ count too (A is 17). */
const checkDigit = (characters: string, weights: readonly number[]): number => {
  const aligned = weights.slice(weights.length - characters.length);
  const sum = aligned.reduce((total, weight, i) => total + weight * (characters.charCodeAt(i) - 48), 0);
  const rest = sum % 11;
  return rest < 2 ? 0 : 11 - rest;
};

const endsWithCheckDigits = (number: string, weights: readonly number[]): boolean => {
  const base = number.slice(0, -2);
  const first = checkDigit(base, weights);
  const second = checkDigit(`${base}${first}`, weights);
  return number.endsWith(`${first}${second}`);
};

/** One digit repeated satisfies the arithmetic but was never issued. */
const isOneCharacterRepeated = (number: string): boolean => number === number.charAt(0).repeat(number.length);

/** `number` is 11 digits. */
export const isValidCpf = (number: string): boolean =>
  !isOneCharacterRepeated(number) && endsWithCheckDigits(number, CPF_WEIGHTS);

/** `number` is 12 digits or capital letters followed by 2 digits. */
export const isValidCnpj = (number: string): boolean =>
  !isOneCharacterRepeated(number) && endsWithCheckDigits(number, CNPJ_WEIGHTS);
