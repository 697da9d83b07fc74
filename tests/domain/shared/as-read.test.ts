import { expect, test } from '@jest/globals';
import { asRead } from '../../../domain/shared/as-read.ts';
import { requireAnother } from '../../../domain/shared/two-people.ts';

const SAME: readonly (readonly [what: string, one: string, other: string])[] = [
  ['upper and lower case', 'Ana Lima', 'ANA lima'],
  ['an accent of its own and one that follows its letter', 'José', 'Jose\u0301'],
  ['what cannot be seen', 'Ana Lima', 'A\u200bna\u00ad Lima\u3164'],
  ['what cannot be seen, between a letter and its accent', 'José', 'Jose\u034f\u0301'],
  ['blanks', 'Ana Lima', ' Ana\u00a0\u2009 Lima '],
  ['wide letters', 'Ana', 'Ａｎａ'],
  ['a letter that is two in upper case', 'Weiß', 'WEISS'],
  ['the forms of a sigma', 'Νίκος', 'ΝΊΚΟΣ'],
];

test.each(SAME)('%s make no other name, and no other person', (_, one, other) => {
  expect(asRead(one)).toBe(asRead(other));
  expect(() => requireAnother('stated', { name: one }, { name: other })).toThrow(
    expect.objectContaining({ code: 'own_decision' }),
  );
});

test('an accent makes another name', () => {
  expect(asRead('José')).not.toBe(asRead('Jose'));
});
