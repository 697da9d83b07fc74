type Place<Name extends string> = Readonly<Record<Name, string>>;

/** A place in a list, as an address holds it. */
export const placeText = <Name extends string>(names: readonly Name[], place: Place<Name>): string =>
  Buffer.from(JSON.stringify(names.map((name) => place[name]))).toString('base64url');

/** Undefined for anything that `placeText` did not make of these: the list then begins at its start. */
export const placeIn = <Name extends string>(
  names: readonly Name[],
  text: string | null,
): Place<Name> | undefined => {
  try {
    const read: unknown = JSON.parse(Buffer.from(text ?? '', 'base64url').toString());
    const isPlace =
      Array.isArray(read) && read.length === names.length && read.every((part) => typeof part === 'string');
    if (!isPlace) return undefined;
    return Object.fromEntries(names.map((name, i) => [name, read[i]])) as Place<Name>;
  } catch {
    return undefined;
  }
};
