import { expect, test } from '@jest/globals';
import { CostlyFiles } from '../../../infrastructure/documents/pdf-checker.ts';

test('each costly file is forgiven after a minute, one after the other', () => {
  let now = 1_000;
  const costly = new CostlyFiles(() => now);
  expect([costly.count('a'), costly.secondsToWait('a')]).toEqual([0, 0]);
  for (let file = 0; file < 6; file += 1) costly.note('a');
  expect([costly.count('a'), costly.secondsToWait('a'), costly.secondsToWait('b')]).toEqual([6, 120, 0]);
  now += 90_000;
  expect([costly.count('a'), costly.secondsToWait('a')]).toEqual([4.5, 30]);
  now += 30_000;
  expect(costly.secondsToWait('a')).toBe(0);
  costly.note('a');
  expect([costly.count('a'), costly.secondsToWait('a')]).toEqual([5, 60]);
  now += 300_000;
  expect(costly.count('a')).toBe(0);
});
