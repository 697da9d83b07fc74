import { asDraft } from './request-rules.ts';

/** Every list of the interface is shorter; one entry more is enough to be reported as too long. */
const LONGEST_LIST = 481;
/** Lists stand in the body itself or in an object of the body. */
const DEPTH = 2;

/**
 * Cuts lists that are too long anyway, so that a megabyte of empty objects is refused after 481 of them and does not become a
 * million violations.
 */
export const withBoundedLists = (value: unknown, depth = DEPTH): unknown => {
  const draft = asDraft(value);
  if (draft === undefined) return value;
  let bounded: Record<string, unknown> | undefined;
  for (const [name, member] of Object.entries(draft)) {
    if (typeof member !== 'object' || member === null) continue;
    const shorter = Array.isArray(member)
      ? cut(member)
      : depth > 1
        ? withBoundedLists(member, depth - 1)
        : member;
    if (shorter !== member) (bounded ??= { ...draft })[name] = shorter;
  }
  return bounded ?? value;
};

const cut = (list: readonly unknown[]): readonly unknown[] =>
  list.length > LONGEST_LIST ? list.slice(0, LONGEST_LIST) : list;
