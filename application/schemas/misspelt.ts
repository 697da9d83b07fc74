/** Longer than any name of the interface by far; a longer name is no slip of the hand. */
const LONGEST_NAME = 64;
/** From this many letters on, two slips are still recognisable. */
const LONG = 8;

const bare = (name: string): string => name.toLowerCase().replaceAll('_', '');

/** A request may hold thousands of names, each to be compared with the same list. */
const bareOf = new WeakMap<readonly string[], readonly string[]>();
const bareNames = (known: readonly string[]): readonly string[] => {
  let names = bareOf.get(known);
  if (!names) bareOf.set(known, (names = known.map(bare)));
  return names;
};

/** Insertions, deletions, substitutions and swapped neighbours that turn one text into the other. */
export const editDistance = (a: string, b: string): number => {
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    const above = rows[i - 1]!;
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1];
      let least = Math.min(above[j]! + 1, row[j - 1]! + 1, above[j - 1]! + (same ? 0 : 1));
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) least = Math.min(least, rows[i - 2]![j - 2]! + 1);
      row.push(least);
    }
    rows.push(row);
  }
  return rows[a.length]![b.length]!;
};

/** The known name that is closest; undefined when there is none at all. */
export const nearest = (name: string, known: readonly string[]): string | undefined => {
  const text = bare(name.slice(0, LONGEST_NAME));
  const distances = known.map((one) => editDistance(text, bare(one)));
  return known[distances.indexOf(Math.min(...distances))];
};

/**
 * The known name that `name` plainly misspells: the same but for case and underscores, one edit away (two from eight letters
 * on), or `amount` written for `value`. A known name with digits behind it is a field of the caller's own, such as `street2`.
 */
export const meantBy = (name: string, known: readonly string[]): string | undefined => {
  if (name.length > LONGEST_NAME) return undefined;
  const text = bare(name);
  const names = bareNames(known);
  const withoutDigits = text.replace(/(?<!\d)\d+$/, '');
  if (withoutDigits !== text && names.includes(withoutDigits)) return undefined;
  const asValue = text.replace('amount', 'value');
  const same = names.findIndex((one) => one === text || one === asValue);
  if (same >= 0) return known[same];
  const close = known.filter((_, index) => {
    const wanted = names[index]!;
    const allowed = wanted.length < LONG ? 1 : 2;
    return Math.abs(wanted.length - text.length) <= allowed && editDistance(text, wanted) <= allowed;
  });
  return close.length === 0 ? undefined : nearest(name, close);
};
