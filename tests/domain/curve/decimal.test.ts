import { describe, expect, test } from '@jest/globals';
import { Decimal, VALUE_CEILING, roundToCents } from '../../../domain/curve/decimal.ts';

describe('rounding to cents', () => {
  test.each([
    ['0.5', 1],
    ['0.4999999999999999999999999', 0],
    ['1.5', 2],
    ['2.5', 3],
    ['-0.3', 0],
    ['614733.4999', 614_733],
  ])('%s cents are %d', (exact, rounded) => {
    expect(roundToCents(new Decimal(exact))).toBe(rounded);
  });

  test('holds what no amount can state at the ceiling', () => {
    expect(roundToCents(new Decimal('1e2926'))).toBe(VALUE_CEILING);
    expect(roundToCents(new Decimal(VALUE_CEILING).plus('0.4'))).toBe(VALUE_CEILING);
    expect(roundToCents(new Decimal(VALUE_CEILING).minus(1))).toBe(VALUE_CEILING - 1);
  });
});
