import { describe, expect, test } from '@jest/globals';
import { editDistance, meantBy, nearest } from '../../../application/schemas/recogniser.ts';

const FIELDS = [
  ...['originator_proposal_code', 'reason', 'reason_detail', 'effective_date', 'repurchase_value'],
  ...['settled_value', 'settled_at', 'idempotency_key', 'dry_run', 'street', 'due_date'],
];

describe('a name that plainly misspells a field', () => {
  test.each([
    ['dryRun', 'dry_run'],
    ['DRY_RUN', 'dry_run'],
    ['dryrun', 'dry_run'],
    ['dry_runs', 'dry_run'],
    ['dyr_run', 'dry_run'],
    ['dry-run', 'dry_run'],
    ['resaon', 'reason'],
    ['repurchase_amount', 'repurchase_value'],
    ['settledAmount', 'settled_value'],
    ['efective_dat', 'effective_date'],
    ['settled_date', 'settled_at'],
    ['idempotencyKey', 'idempotency_key'],
    ['originatorProposalCodes', 'originator_proposal_code'],
    ['sreet', 'street'],
  ])('%s means %s', (name, meant) => expect(meantBy(name, FIELDS)).toBe(meant));
});

describe('a name of the caller\u2019s own', () => {
  test.each([
    ...['street2', 'street_2', 'STREET22', 'note', 'dry', 'run', 'steets2', 'metadata', 'due', 'dryness', ''],
    ...['constructor', '__proto__', 'x'.repeat(100_000), `${'_'.repeat(100)}dry_run`, 'settled_by_user'],
  ])('%.40s is none', (name) => expect(meantBy(name, FIELDS)).toBeUndefined());
});

test('two slips count from eight letters on, one in shorter names', () => {
  expect([meantBy('stret', ['street']), meantBy('stre', ['street'])]).toEqual(['street', undefined]);
  expect([meantBy('settldvalue', FIELDS), meantBy('setldvalue', FIELDS)]).toEqual([
    'settled_value',
    'settled_value',
  ]);
  expect(meantBy('stldvalue', FIELDS)).toBeUndefined();
});

test('distances count insertions, deletions, substitutions and swapped neighbours', () => {
  const pairs = [
    ['', 'ab'],
    ['ab', 'ba'],
    ['kitten', 'sitting'],
    ['abc', 'abc'],
    ['ca', 'abc'],
  ] as const;
  expect(pairs.map(([a, b]) => editDistance(a, b))).toEqual([2, 1, 3, 0, 3]);
});

test('the nearest of several is named, or none where there is none', () => {
  expect([nearest('statsu', ['limit', 'status', 'cursor']), nearest('x', [])]).toEqual(['status', undefined]);
});
