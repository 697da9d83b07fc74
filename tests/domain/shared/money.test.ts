import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  addCents,
  cents,
  centsFromAmount,
  formatCents,
  subtractCents,
} from '../../../domain/shared/money.ts';

const anyCents = fc.integer({ min: -99_999_999_999, max: 99_999_999_999 }).map(cents);

describe('money', () => {
  test('is whole cents and nothing else', () => {
    for (const value of [0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])
      expect(() => cents(value)).toThrow(RangeError);
  });

  test.each([
    [0, '0.00'],
    [5, '0.05'],
    [95_000, '950.00'],
    [99_999_999_999, '999999999.99'],
    [-1, '-0.01'],
    [-12_345, '-123.45'],
  ])('%d cents print as %s', (value, text) => {
    expect(formatCents(cents(value))).toBe(text);
  });

  test.each([
    [0.01, 1],
    [950.5, 95_050],
    [1.1, 110],
    [4.35, 435],
    [999_999_999.99, 99_999_999_999],
  ])('the amount %d is %d cents', (amount, value) => {
    expect(centsFromAmount(amount)).toBe(value);
  });

  test('printed and read again is the same', () => {
    fc.assert(
      fc.property(anyCents, (value) => expect(centsFromAmount(Number(formatCents(value)))).toBe(value)),
    );
  });

  test('adds and subtracts exactly', () => {
    fc.assert(
      fc.property(anyCents, anyCents, (a, b) => {
        expect(subtractCents(addCents(a, b), b)).toBe(a);
      }),
    );
    expect(addCents()).toBe(0);
  });
});
