import { UNSEEN_MARKS, asRead } from '../shared/as-read.ts';
import type { Decider } from '../shared/decider.ts';
import { DomainError } from '../shared/domain-error.ts';
import type { FundId, Timestamp } from '../shared/identifiers.ts';

export interface NameFund {
  readonly type: 'NameFund';
  readonly fundId: FundId;
  readonly name: string;
  readonly now: Timestamp;
}

export interface FundNamed {
  readonly type: 'FundNamed';
  readonly fundId: FundId;
  readonly name: string;
  readonly namedAt: Timestamp;
}

export type FundNames = ReadonlyMap<string, string>;

const LONGEST = 80;
const NAME = new RegExp(`^[^${UNSEEN_MARKS}]+$`, 'u');
const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** In lower case, as ids are kept. */
export const isFundId = (text: string): text is FundId => ID.test(text);

const violationOf = (name: string): string | undefined => {
  if ([...name].length > LONGEST || !NAME.test(name) || !name.isWellFormed() || asRead(name) === '')
    return `must be 1 to ${LONGEST} characters, without control characters or marks of direction`;
  if (name.trim() !== name) return 'must neither begin nor end with a blank';
  return isFundId(name.toLowerCase()) ? 'must not look like the id of a fund' : undefined;
};

const decide = ({ fundId, name, now }: NameFund, names: FundNames): readonly FundNamed[] => {
  const violation = violationOf(name);
  if (violation !== undefined) {
    const message = `the name ${violation}`;
    throw new DomainError('validation_error', message, [{ field: 'name', code: 'invalid', message }]);
  }
  if (names.get(fundId) === name) return [];
  for (const [other, taken] of names)
    if (other !== fundId && asRead(taken) === asRead(name))
      throw new DomainError('fund_not_allowed', `the fund ${other} has the name ${taken}`);
  return [{ type: 'FundNamed', fundId, name, namedAt: now }];
};

/** How the funds are called, all of them at once: no two have names that differ in upper and lower case alone. */
export const fundNamesDecider: Decider<FundNames, NameFund, FundNamed> = {
  initialState: new Map(),
  decide,
  evolve: (names, { fundId, name }) => new Map([...names, [fundId, name]]),
};
