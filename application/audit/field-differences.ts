/** One field in which two values differ, by its path. */
export interface FieldDifference {
  readonly path: string;
  readonly expected: unknown;
  readonly found: unknown;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

/** Where two JSON values differ, whatever the order of their fields. Nothing when they are equal. */
export const fieldDifferences = (
  expected: unknown,
  found: unknown,
  path = '',
): readonly FieldDifference[] => {
  if (Object.is(expected, found)) return [];
  if (!isObject(expected) || !isObject(found) || Array.isArray(expected) !== Array.isArray(found))
    return [{ path, expected, found }];
  const names = new Set([...Object.keys(expected), ...Object.keys(found)]);
  return [...names].flatMap((name) =>
    fieldDifferences(expected[name], found[name], path === '' ? name : `${path}.${name}`),
  );
};
