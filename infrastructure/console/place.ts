/** A place in a list, as an address holds it. */
export const placeText = (...parts: readonly string[]): string =>
  Buffer.from(JSON.stringify(parts)).toString('base64url');

/** Its parts; none for anything that `placeText` did not make of so many: the list then begins at its start. */
export const placeParts = (text: string | null, count: number): readonly string[] => {
  try {
    const read: unknown = JSON.parse(Buffer.from(text ?? '', 'base64url').toString());
    const isPlace =
      Array.isArray(read) && read.length === count && read.every((part) => typeof part === 'string');
    return isPlace ? read : [];
  } catch {
    return [];
  }
};
