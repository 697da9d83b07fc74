import { randomUUID } from 'node:crypto';
import { afterAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Worklists } from '../../../application/administrator/worklists.ts';
import { loanStream } from '../../../application/command-handling/operation.ts';
import { SqlPortfolioPositions } from '../../../application/portfolio/portfolio-reader.ts';
import { OVERDUE_BUCKETS, positionOf } from '../../../application/portfolio/position.ts';
import { SqlProjectionStore } from '../../../application/projecting/projection-store.ts';
import type { LogPosition } from '../../../application/ports/event-store.ts';
import { readModelMigrations } from '../../../application/sql/read-model-tables.ts';
import { presentValue } from '../../../domain/curve/present-value.ts';
import { EXITS, REPURCHASE_REASONS } from '../../../domain/loan/exits.ts';
import { loanDecider } from '../../../domain/loan/index.ts';
import type { LoanCommand, LoanEvent } from '../../../domain/loan/index.ts';
import { addDays, calendarDate, daysBetween } from '../../../domain/shared/calendar-date.ts';
import type { CalendarDate } from '../../../domain/shared/calendar-date.ts';
import type { FundId, LoanCode, Timestamp } from '../../../domain/shared/identifiers.ts';
import { cents } from '../../../domain/shared/money.ts';
import { loanProjection } from '../../../projections/loan/loan-projection.ts';
import { installmentCode, receiveL1 } from '../../domain/support/loan-story.ts';
import { decideOrRefuse } from '../../domain/support/stories.ts';
import { openTemporary } from '../../support/sql/temporary-database.ts';

/** Others look elsewhere: SEED=123 npm test -- tests/application/portfolio/figures */
const SEED = Number(process.env['SEED'] ?? '1');
const RUNS = 40;
const FIRST = calendarDate('2026-01-20');
const EVER = '9999-12-31T23:59:59.999Z';
const KINDS = ['next', 'settle', 'settle', 'prepay', 'leave', 'next', 'overdue', 'reject'] as const;

const act = fc.record({
  kind: fc.constantFrom(...KINDS),
  after: fc.constantFrom(0, 0, 1, 5, 20, 45),
  minute: fc.integer({ min: 0, max: 1_439 }),
  back: fc.integer({ min: 0, max: 40 }),
  installment: fc.integer({ min: 1, max: 12 }),
  amount: fc.constantFrom(10_000, 94_000, 95_000, 96_000, 300_000, 1_300_000),
  reason: fc.constantFrom(...REPURCHASE_REASONS),
});
type Act = typeof act extends fc.Arbitrary<infer One> ? One : never;
const life = fc
  .tuple(fc.boolean(), fc.array(act, { minLength: 3, maxLength: 25, size: 'max' }))
  .map(([goes, acts]) => acts.map((one, i) => (goes && i < 3 ? { ...one, kind: 'next' as const } : one)));

interface Recorded {
  readonly event: LoanEvent;
  readonly at: Timestamp;
}

const at = (day: CalendarDate, minute: number): Timestamp =>
  new Date(Date.parse(`${day}T03:00:00.000Z`) + minute * 60_000).toISOString() as Timestamp;
const dayOf = (instant: string): string =>
  new Date(Date.parse(instant) - 10_800_000).toISOString().slice(0, 10);

const next = (status: string, date: CalendarDate, now: Timestamp): LoanCommand => {
  if (status === 'received') return { type: 'ApproveLoan', now };
  if (status === 'approved') return { type: 'SignLoanTerm', now };
  if (status === 'term_signed')
    return { type: 'DisburseLoan', now, ...(!date.endsWith('5') && { disbursementDate: date }) };
  return { type: 'CompleteRepurchase', now };
};

const commandOf = (one: Act, status: string, day: CalendarDate, now: Timestamp): LoanCommand => {
  const date = addDays(day, -one.back);
  const [value, paymentMethod] = [cents(one.amount), 'pix'] as const;
  switch (one.kind) {
    case 'next':
      return next(status, date, now);
    case 'settle': {
      const code = installmentCode(String(one.installment).padStart(3, '0'));
      const settled = { settledAt: date, settledValue: value, paymentMethod, now };
      return { type: 'SettleInstallment', installmentCode: code, ...settled };
    }
    case 'prepay':
      return { type: 'ProcessPrepayment', prepaymentValue: value, prepaymentDate: date, paymentMethod, now };
    case 'leave':
      return { type: 'RequestRepurchase', reason: one.reason, effectiveDate: date, now };
    case 'overdue':
      return { type: 'MarkInstallmentsOverdue', today: day, now };
    case 'reject':
      return { type: 'RejectLoan', reasons: [], now };
  }
};

const lived = (code: string, fundId: string, acts: readonly Act[]) => {
  let state = loanDecider.initialState;
  let [day, now] = [FIRST, at(FIRST, 0)];
  const told: Recorded[] = [];
  const run = (command: LoanCommand): void => {
    for (const event of decideOrRefuse(command, state)) {
      told.push({ event, at: now });
      state = loanDecider.evolve(state, event);
    }
  };
  run({ ...receiveL1, code: code as LoanCode, fundId: fundId as FundId, now });
  for (const one of acts) {
    day = addDays(day, one.after);
    const later = at(day, one.minute);
    if (later > now) now = later;
    run(commandOf(one, state.status, day, now));
  }
  return { told, status: state.status };
};

/** What one operation held and had brought on a day, told in the plainest way from what was recorded by then. */
const heldBy = (told: readonly Recorded[], date: CalendarDate, knownAt: string) => {
  const events = told.filter((one) => one.at <= knownAt).map(({ event }) => event);
  const of = <Type extends LoanEvent['type']>(type: Type) =>
    events.filter((event): event is Extract<LoanEvent, { type: Type }> => event.type === type);
  const [received] = of('LoanReceived');
  if (!received) return { held: [], flows: [] };
  const [bought] = of('LoanDisbursed');
  const settled = of('InstallmentSettled').filter(({ settledAt }) => settledAt <= date);
  const prepaid = of('PrepaymentProcessed').filter(({ prepaymentDate }) => prepaymentDate <= date);
  const left = of('RepurchaseCompleted').length > 0 ? of('RepurchaseRequested') : [];
  const gone = left.filter(({ effectiveDate }) => effectiveDate <= date);
  const closed = [
    ...settled.map(({ installmentCode: code }) => code),
    ...prepaid.flatMap(({ settledInstallments }) => settledInstallments),
  ];
  const holds = bought && (bought.disbursementDate ?? dayOf(bought.disbursedAt)) <= date && gone.length === 0;
  const open = received.installments
    .filter(({ code }) => holds && !closed.includes(code))
    .map((one) => ({
      ...one,
      credits: prepaid.flatMap(({ partial }) =>
        partial?.installmentCode === one.code ? [partial.credit] : [],
      ),
    }));
  const { lines } = presentValue(received.pricing.dailyFactor, open, date);
  return {
    held: open.map(({ dueDate }, i) => ({ dueDate, value: lines[i]!.presentValue })),
    flows: [
      ...settled.map((one) => ({ flow: 'settled', date: one.settledAt, amount: one.settledValue })),
      ...prepaid.map(({ prepaymentDate, prepaymentValue, excessValue }) => ({
        ...{ flow: 'prepaid', date: prepaymentDate, amount: prepaymentValue - excessValue },
      })),
      ...gone.map(({ reason, effectiveDate, repurchaseValue }) => ({
        ...{ flow: EXITS[reason].status, date: effectiveDate, amount: repurchaseValue },
      })),
    ],
  };
};

let position = 0;
const database = await openTemporary(readModelMigrations);
const store = new SqlProjectionStore(database.database);
afterAll(() => database.close());

const project = async (applicationId: string, code: string, told: readonly Recorded[]): Promise<void> => {
  const stream = loanStream(applicationId, code);
  const writes = told.flatMap(({ event, at: recordedAt }, i) =>
    loanProjection.project({
      ...{ event, id: `${stream}/${i}`, stream, applicationId, revision: BigInt(i), recordedAt },
      position: (position += 1),
    }),
  );
  const from = await store.checkpoint(loanProjection);
  expect(await store.apply(loanProjection, writes, from, randomUUID() as string as LogPosition)).toBe(true);
};

const sumOf = (held: readonly { readonly value: number }[]) => ({
  installments: held.length,
  presentValue: held.reduce((sum, { value }) => sum + value, 0),
});
const paidIn = (flows: readonly { readonly amount: number }[]) => ({
  payments: flows.length,
  amount: flows.reduce((sum, { amount }) => sum + amount, 0),
});

const asked = fc.record({
  /** As many days after the first; below zero: on a day on which something happened. */
  day: fc.integer({ min: -300, max: 500 }),
  known: fc.option(fc.integer({ min: 0, max: 400 })),
});

test('a fund holds, and was paid, what its events say, on any day and as it was known at any time', async () => {
  const positions = new SqlPortfolioPositions(database.database, 2);
  await fc.assert(
    fc.asyncProperty(
      fc.array(life, { minLength: 1, maxLength: 4 }),
      fc.array(asked, { minLength: 1, maxLength: 4 }),
      async (lives, questions) => {
        const [fundId, applicationId] = [randomUUID(), randomUUID()];
        const all = lives.map((acts, i) => lived(`OP-${i}`, fundId, acts));
        for (const [i, { told }] of all.entries()) await project(applicationId, `OP-${i}`, told);
        const days = all.flatMap(({ told }) => heldBy(told, calendarDate('2099-01-01'), EVER).flows);
        for (const { day, known } of questions) {
          const date = day < 0 ? (days[-day % days.length]?.date ?? FIRST) : addDays(FIRST, day);
          const knownAt = known === null ? EVER : at(addDays(FIRST, known), 720);
          const shown = await positionOf(positions, { fundId, date, knownAt });
          const expected = all.map(({ told }) => heldBy(told, date, knownAt));
          const held = expected.flatMap((one) => one.held);
          expect(shown.operations).toBe(expected.filter((one) => one.held.length > 0).length);
          expect(shown.open).toMatchObject(sumOf(held));
          const late = held.map((one) => ({ ...one, days: daysBetween(one.dueDate, date) }));
          expect(shown.buckets).toMatchObject(
            OVERDUE_BUCKETS.map(({ from, to }) =>
              sumOf(late.filter((one) => one.days >= from && one.days <= (to ?? Infinity))),
            ),
          );
          const flows = expected.flatMap((one) => one.flows);
          for (const { flow, onDay, toDate } of shown.flows) {
            const own = flows.filter((one) => one.flow === flow);
            expect(toDate).toMatchObject(paidIn(own));
            expect(onDay).toMatchObject(paidIn(own.filter((one) => one.date === date)));
          }
        }
        const waiting = await new Worklists(database.database, [fundId]).waiting();
        for (const status of ['received', 'approved', 'term_signed', 'repurchase_pending'])
          expect(waiting.find((one) => one.status === status)?.operations ?? 0).toBe(
            all.filter((one) => one.status === status).length,
          );
      },
    ),
    { numRuns: RUNS, seed: SEED, endOnFailure: true },
  );
});
