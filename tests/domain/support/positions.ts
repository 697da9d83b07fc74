import fc from 'fast-check';
import { solveDailyFactor } from '../../../domain/curve/daily-factor.ts';
import type { OpenInstallment } from '../../../domain/installment/installment.ts';
import { addDays, calendarDate } from '../../../domain/shared/calendar-date.ts';
import type { CalendarDate } from '../../../domain/shared/calendar-date.ts';
import type { InstallmentCode } from '../../../domain/shared/identifiers.ts';
import { cents } from '../../../domain/shared/money.ts';
import type { Cents } from '../../../domain/shared/money.ts';

export const ISSUED = calendarDate('2026-01-15');
const HIGHEST_AMOUNT = 99_999_999_999;

/** A price and what it bought. */
export interface Position {
  readonly acquisitionValue: Cents;
  readonly installments: readonly OpenInstallment[];
}

/** Faces with the days that pass before each; codes are handed out in that order. */
type Steps = readonly { readonly days: number; readonly faceValue: number }[];

const installmentsOf = (steps: Steps): readonly OpenInstallment[] => {
  let dueDate = ISSUED;
  return steps.map(({ days, faceValue }, i) => {
    dueDate = addDays(dueDate, i === 0 ? Math.max(1, days) : days);
    return {
      code: String(i + 1).padStart(3, '0') as InstallmentCode,
      dueDate,
      faceValue: cents(faceValue),
      status: 'pending',
      credits: [],
    };
  });
};

const positionOf = (steps: Steps, price: (faces: number) => number): Position => {
  const installments = installmentsOf(steps);
  const faces = installments.reduce((sum, { faceValue }) => sum + faceValue, 0);
  return { acquisitionValue: cents(Math.max(1, Math.round(price(faces)))), installments };
};

const stepsOf = (range: { minLength: number; maxLength: number; maxDays: number; maxFace: number }) =>
  fc.array(
    fc.record({
      days: fc.integer({ min: 0, max: range.maxDays }),
      faceValue: fc.integer({ min: 1, max: range.maxFace }),
    }),
    { ...range, size: 'max' },
  );

const position = (steps: fc.Arbitrary<Steps>, prices: { min: number; max: number }): fc.Arbitrary<Position> =>
  fc
    .tuple(steps, fc.double({ ...prices, noNaN: true }))
    .map(([each, ratio]) => positionOf(each, (faces) => faces * ratio));

/** A few installments over a few years, at prices from far below to above par. */
export const shortPosition = position(
  stepsOf({ minLength: 1, maxLength: 6, maxDays: 200, maxFace: 10_000_000 }),
  {
    min: 0.3,
    max: 1.3,
  },
);
/** Credit as it is assigned: up to forty installments, near par. */
export const anyPosition = position(
  stepsOf({ minLength: 1, maxLength: 40, maxDays: 60, maxFace: 100_000_000 }),
  {
    min: 0.5,
    max: 1.2,
  },
);
/** Few enough installments for a story to reach its end. */
export const storyPosition = position(
  stepsOf({ minLength: 1, maxLength: 12, maxDays: 60, maxFace: 100_000_000 }),
  {
    min: 0.6,
    max: 1.1,
  },
);
/** The edges: hundreds of installments, decades, a single day, a cent against the largest amounts and the reverse. */
export const extremePosition = fc
  .tuple(
    fc.oneof(
      stepsOf({ minLength: 1, maxLength: 3, maxDays: 11_000, maxFace: HIGHEST_AMOUNT }),
      stepsOf({ minLength: 1, maxLength: 3, maxDays: 1, maxFace: 100 }),
      stepsOf({ minLength: 480, maxLength: 480, maxDays: 45, maxFace: HIGHEST_AMOUNT }),
    ),
    fc.constantFrom(1, 100, 1_000_000, HIGHEST_AMOUNT),
  )
  .map(([steps, price]) => positionOf(steps, () => price));

export const solved = ({ acquisitionValue, installments }: Position): string =>
  solveDailyFactor(acquisitionValue, ISSUED, installments);

/** A day from the issue to about five years later. */
export const anyDate: fc.Arbitrary<CalendarDate> = fc
  .integer({ min: 0, max: 1_800 })
  .map((days) => addDays(ISSUED, days));
