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
