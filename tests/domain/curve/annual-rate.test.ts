import { describe, expect, test } from '@jest/globals';
import { annualRate, monthlyRate } from '../../../domain/curve/annual-rate.ts';
import { vectors } from '../support/finance-vectors.ts';

describe('the rate of a year', () => {
  test.each(vectors.present_value.map((loan) => [loan.name, loan] as const))(
    '%s',
    (_, { daily_factor: factor, annual_effective_rate: expected }) => {
      const rate = annualRate(factor);
      expect(rate).toMatch(/^-?\d+\.\d{10}$/);
      expect(Number(rate)).toBe(Number(expected));
    },
  );

  test.each([
    ['1.000000000000000000000000000000', '0.0000000000'],
    // Too small for ten decimals, on both sides of zero.
    ['1.000000000000000100000000000000', '0.0000000000'],
    ['0.999999999999999900000000000000', '0.0000000000'],
    ['99999999999.000000000000000000000000000000', '-1.0000000000'],
    ['0.500000000000000000000000000000', null],
    ['0.000000000010000000000000000000', null],
  ])('of the factor %s is %s', (factor, rate) => {
    expect(annualRate(factor)).toBe(rate);
  });

  test('is stated up to 10^12, and rounded half up', () => {
    // The last digit of the factor decides, on both sides of 10^12 and of half a unit of the last decimal.
    expect(annualRate('0.927092969506881940622303104776')).toBe(null);
    expect(annualRate('0.927092969506881940622303104777')).toBe('1000000000000.0000000000');
    expect(annualRate('0.999681118385364392673087388215')).toBe('0.1234567891');
    expect(annualRate('0.999681118385364392673087388216')).toBe('0.1234567890');
  });
});

describe('the rate of a month', () => {
  test.each(vectors.present_value.map((loan) => [loan.name, loan.daily_factor] as const))(
    '%s: twelve make a year',
    (_, factor) => {
      const [year, month] = [Number(annualRate(factor)), Number(monthlyRate(factor))];
      expect((1 + month) ** 12 - 1).toBeCloseTo(year, 6);
    },
  );

  test.each([
    ['1.000000000000000000000000000000', '0.0000000000'],
    ['99999999999.000000000000000000000000000000', '-1.0000000000'],
    ['0.000000000010000000000000000000', null],
  ])('of the factor %s is %s', (factor, rate) => {
    expect(monthlyRate(factor)).toBe(rate);
  });
});
