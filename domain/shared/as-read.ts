/** What cannot be seen, or turns the direction of what is read beside it: control characters and marks of direction. In brackets of a regular expression. */
export const UNSEEN_MARKS =
  '\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069';

/** Upper case first: `ß` and `SS`, and the forms of a sigma, become one. */
const withoutCase = (text: string): string => text.toUpperCase().toLowerCase();

/** What two names have in common that people take for the same one. */
export const asRead = (name: string): string =>
  withoutCase(
    name
      .normalize('NFKC')
      .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
      .replace(/\s+/gu, ' ')
      .trim(),
  )
    // An accent may have been kept from its letter by what was taken out.
    .normalize('NFKC');
