import type { Expected } from './model/answers.ts';
import type { Book } from './model/book.ts';
import type { Answer } from './world.ts';

/** Stands for a value that nothing is said about. */
const ANYTHING = Symbol('anything');

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

/** What a process of an earlier release does not show yet, and what the answers that it has recorded never do. */
const CAME_LATER = /: expected .*, found undefined$/;

/** It goes on naming the files of a borrower who was forgotten. */
const NAMES_FILES = /^\.documents\[\d+\]\.value: expected null, /;

/** It shows what an operation owes until its repurchase is completed, too. */
export const isOfEarlier = ({ status }: Book, difference: string): boolean =>
  CAME_LATER.test(difference) ||
  NAMES_FILES.test(difference) ||
  (status === 'repurchase_pending' && difference.startsWith('.balances.'));

/** What awaits, in an order that both sides have. */
export const byId = (all: readonly object[]): readonly object[] =>
  all.toSorted((one, other) =>
    (one as FirstOf).firstDecisionId < (other as FirstOf).firstDecisionId ? -1 : 1,
  );
type FirstOf = { readonly firstDecisionId: string };

/** Operations that arrived in the same millisecond have no order of their own. */
export const byArrival = (one: object, other: object): number => {
  const [a, b] = [one, other].map((loan) => {
    const { received_at: at, originator_proposal_code: code } = loan as Record<string, string>;
    return `${at} ${code}`;
  }) as [string, string];
  return a < b ? -1 : 1;
};

/** @param ofEarlier it was answered by a process of an earlier release */
export const answerDifferences = (
  { status, error, body, replayed }: Expected,
  answer: Answer,
  ofEarlier: boolean,
): readonly string[] => {
  const found = differences(
    { status, ...(error !== undefined && { body: { error_code: error } }), ...(body && { body }) },
    answer,
  ).filter((one) => !(ofEarlier && CAME_LATER.test(one)));
  if (found.length > 0)
    return [`${found.join('; ')} (answered ${answer.status} ${JSON.stringify(answer.body)})`];
  return replayed === undefined ? [] : differences(replayed, answer.replayed, 'replayed');
};
