/** Stands for a value that nothing is said about. */
export const ANYTHING = Symbol('anything');

const shown = (value: unknown): string => JSON.stringify(value) ?? String(value);

/** Every place where what was expected does not stand, as lines. Fields of objects that nobody expected are let pass. */
export const differences = (expected: unknown, found: unknown, place = ''): readonly string[] => {
  if (expected === ANYTHING) return [];
  if (Array.isArray(expected)) {
    if (!Array.isArray(found) || found.length !== expected.length)
      return [`${place}: expected ${shown(expected)}, found ${shown(found)}`];
    return expected.flatMap((one, i) => differences(one, found[i], `${place}[${i}]`));
  }
  if (typeof expected === 'object' && expected !== null) {
    if (typeof found !== 'object' || found === null)
      return [`${place}: expected ${shown(expected)}, found ${shown(found)}`];
    return Object.entries(expected).flatMap(([name, value]) =>
      differences(value, (found as Record<string, unknown>)[name], `${place}.${name}`),
    );
  }
  return Object.is(expected, found) ? [] : [`${place}: expected ${shown(expected)}, found ${shown(found)}`];
};
