import { expect, test } from '@jest/globals';
import { Kept } from '../../../infrastructure/console/kept.ts';
import { LARGEST, statements } from '../../../infrastructure/console/pages/reconciliation/form.ts';
import type { KeptStatement } from '../../../infrastructure/console/pages/reconciliation/form.ts';

const person = (subject: string) => ({
  formToken: `of ${subject}`,
  person: { issuer: 'https://login.example', subject, name: 'Maria', grants: [] },
});

test('what is kept is bounded for each person, and for all who did not sign in together', () => {
  const kept = new Kept<{ readonly value: number }>(2);
  const [maria, joao] = [person('maria'), person('joao')];
  const first = kept.keep(maria, { value: 1 });
  const others = [1, 2, 3].map((value) => kept.keep(joao, { value }));
  expect(others.map((id) => kept.find(joao, id)?.value)).toEqual([undefined, 2, 3]);
  expect([kept.find(maria, first)?.value, kept.find(joao, first)]).toEqual([1, undefined]);
  const otherSession = { ...maria, formToken: 'another' };
  expect(kept.find(otherSession, first)).toBeUndefined();
  const [one, , three] = ['a', 'b', 'c'].map((formToken, value) => ({
    formToken,
    id: kept.keep({ formToken }, { value }),
  }));
  expect([kept.find(one!, one!.id), kept.find(three!, three!.id)?.value]).toEqual([undefined, 2]);
});

test('statements of everybody together are bounded in bytes: the one that was not used for longest goes', () => {
  const statement = (bytes: number): KeptStatement =>
    ({ name: 'x.csv', bytes: Buffer.allocUnsafe(bytes) }) as KeptStatement;
  const people = ['a', 'b', 'c'].map(person);
  const small = statements.keep(people[2]!, statement(0));
  const large = people
    .slice(0, 2)
    .flatMap((one) => [1, 2, 3, 4].map(() => [one, statements.keep(one, statement(LARGEST))] as const));
  const areThere = () => large.map(([one, id]) => statements.find(one, id) !== undefined);
  // An empty file and eight of the largest are a byte too many.
  expect(statements.find(people[2]!, small)).toBeUndefined();
  expect(areThere()).toEqual(Array(8).fill(true));
  statements.keep(people[2]!, statement(LARGEST));
  expect(areThere()).toEqual([false, ...Array<boolean>(7).fill(true)]);
});
