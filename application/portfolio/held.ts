import { daysBetween } from '../../domain/shared/calendar-date.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import { parseLoanStream } from '../command-handling/operation.ts';
import type { OperationPlace } from '../command-handling/operation.ts';
import type { SqlDatabase } from '../sql/sql-database.ts';
import { byValue, statusOf } from './composition.ts';
import { standingsOn } from './portfolio-reader.ts';
import type { PositionRequest, SqlPortfolioPositions, Standing } from './portfolio-reader.ts';
import { bucketOf, positionOf } from './position.ts';
import type { Held, Valued } from './position.ts';

export const HELD_BY = ['late', 'month', 'application', 'state', 'product'] as const;

export interface HeldPart {
  readonly by: (typeof HELD_BY)[number];
  /** Of `late` the first day of a bucket, 0: not due, `all`: overdue; of `month` as 2026-06. Undefined: not known. */
  readonly value: string | undefined;
}

export type HeldOperation = Held & OperationPlace;

const GATHERED = 10_000;

const ofInstallment = ({ by, value }: HeldPart, date: CalendarDate): ((due: CalendarDate) => boolean) => {
  if (by === 'month') return (due) => due.startsWith(value ?? '?');
  if (by !== 'late') return () => true;
  return (due) => {
    const from = bucketOf(daysBetween(due, date))?.from ?? 0;
    return value === 'all' ? from > 0 : String(from) === value;
  };
};

const ofOperation =
  ({ by, value }: HeldPart) =>
  (applicationId: string, standing: Standing | undefined): boolean => {
    if (by === 'application') return applicationId === value;
    if (by === 'state') return statusOf(standing) === value;
    return by !== 'product' || standing?.productType === value;
  };

const sumOf = ({ open, presentValues }: Valued, isMeant: (due: CalendarDate) => boolean): Held => {
  let [installments, faceValue, presentValue] = [0, 0, 0];
  for (const [i, one] of open.entries()) {
    if (!isMeant(one.dueDate)) continue;
    installments += 1;
    faceValue += one.faceValue;
    presentValue += presentValues[i]!;
  }
  return { installments, faceValue, presentValue };
};

/** The operations of one part of a portfolio: what they are worth adds up to it. @param most of the largest that are told */
export const heldOf = async (
  { database, positions }: { readonly database: SqlDatabase; readonly positions: SqlPortfolioPositions },
  request: PositionRequest,
  part: HeldPart,
  most: number,
) => {
  const [isMeant, belongs] = [ofInstallment(part, request.date), ofOperation(part)];
  const all = { operations: 0, installments: 0, faceValue: 0, presentValue: 0 };
  let largest: HeldOperation[] = [];
  const trim = (to: number): void => void (largest = largest.toSorted(byValue).slice(0, to));
  await positionOf(positions, request, async (page) => {
    const needed = part.by === 'state' || part.by === 'product' ? page.map(({ stream }) => stream) : [];
    const stood = new Map(
      (await standingsOn(database, request.date, needed)).map((one) => [one.stream, one]),
    );
    for (const held of page) {
      const place = parseLoanStream(held.stream);
      if (!place || !belongs(place.applicationId, stood.get(held.stream))) continue;
      const sums = sumOf(held, isMeant);
      if (sums.installments === 0) continue;
      all.operations += 1;
      all.installments += sums.installments;
      all.faceValue += sums.faceValue;
      all.presentValue += sums.presentValue;
      largest.push({ ...place, ...sums });
    }
    if (largest.length >= GATHERED) trim(most);
  });
  trim(most);
  return { ...all, largest };
};
