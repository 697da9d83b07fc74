import { expect, test } from '@jest/globals';
import { Kept } from '../../../infrastructure/console/kept.ts';

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
