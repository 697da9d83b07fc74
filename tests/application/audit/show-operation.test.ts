import { beforeAll, describe, expect, test } from '@jest/globals';
import { showOperation } from '../../../application/audit/show-operation.ts';
import type { ShowRequest } from '../../../application/audit/show-operation.ts';
import { loanStream } from '../../../application/command-handling/operation.ts';
import { loanDecider } from '../../../domain/loan/index.ts';
import { installmentsOf } from '../../../domain/loan/state.ts';
import type { LoanCommand } from '../../../domain/loan/index.ts';
import { commandHandler, context, fixedClock, openVault } from '../../support/application-parts.ts';
import { InMemoryEventStore } from '../../support/in-memory-event-store.ts';
import { receiveL1 } from '../../domain/support/loan-story.ts';

const events = new InMemoryEventStore();
const shown = { execute: (request: ShowRequest) => showOperation({ events, vault: openVault }, request) };
const { applicationId } = context();
const code = receiveL1.code;

/** Carries out commands as they would come in at these instants. */
const live = async (steps: readonly (readonly [string, Partial<LoanCommand>])[]): Promise<void> => {
  for (const [now, step] of steps) {
    const clock = fixedClock(now as never, now.slice(0, 10) as never);
    await commandHandler(events, clock).handle({
      stream: loanStream(applicationId, code),
      ...{ applicationId, actor: 'client-7', correlationId: 'request-7' },
      decide: (state) => loanDecider.decide({ ...step, now } as LoanCommand, state),
    });
  }
};

const [first, second] = receiveL1.installments;
const settle = (installment: typeof first, settledAt: string) => ({
  type: 'SettleInstallment' as const,
  ...{ installmentCode: installment!.code, settledAt: settledAt as never },
  ...{ settledValue: installment!.faceValue, paymentMethod: 'pix' as const },
});

beforeAll(() =>
  live([
    ['2026-01-15T12:00:00.000Z', { ...receiveL1, applicationId: applicationId as never }],
    ['2026-01-15T12:01:00.000Z', { type: 'ApproveLoan' }],
    ['2026-01-15T12:02:00.000Z', { type: 'SignLoanTerm' }],
    ['2026-01-16T01:00:00.000Z', { type: 'DisburseLoan' }],
    ['2026-03-20T12:00:00.000Z', settle(second, '2026-03-10')],
    ['2026-03-21T12:00:00.000Z', settle(first, '2026-02-10')],
  ]),
);

const show = (request: Partial<ShowRequest> = {}) => shown.execute({ applicationId, code, ...request });
const settledIn = ({ state }: Awaited<ReturnType<typeof show>>): readonly string[] =>
  'changed' in state
    ? installmentsOf(state)
        .filter((one) => one.status === 'settled')
        .map((one) => one.code)
    : [];

describe('an operation', () => {
  test('with everything that happened, who caused it, and an unbroken chain', async () => {
    const { events: all, brokenAt, state } = await show();
    expect(brokenAt).toBeUndefined();
    expect(state.status).toBe('active');
    expect(all.map(({ event }) => event.type)).toEqual([
      ...['LoanReceived', 'LoanApproved', 'LoanTermSigned', 'LoanDisbursed'],
      ...['InstallmentSettled', 'InstallmentSettled'],
    ]);
    expect(all[4]?.recorded.metadata).toMatchObject({ actor: 'client-7', correlationId: 'request-7' });
  });

  test('as it was on a day: the payment that states a later one does not count', async () => {
    const february = await show({ asOf: '2026-02-28' as never });
    expect(settledIn(february)).toEqual([first!.code]);
    expect(february.events.map(({ leftOut }) => leftOut)).toEqual([...Array(4), 'later_date', undefined]);
    expect(february.payoff).toHaveLength(receiveL1.installments.length - 1);
  });

  test('as it was known at an instant: the payment that was recorded later does not count', async () => {
    const known = await show({ knownAt: '2026-03-20T18:00:00.000Z' });
    expect(settledIn(known)).toEqual([second!.code]);
    const both = await show({ asOf: '2026-02-28' as never, knownAt: '2026-03-20T18:00:00.000Z' });
    expect(settledIn(both)).toEqual([]);
  });

  test('counts on days of the fund, not of UTC', async () => {
    // 01:00 in UTC is still the evening of the fifteenth.
    expect((await show({ asOf: '2026-01-15' as never })).state.status).toBe('active');
    expect((await show({ asOf: '2026-01-14' as never })).state.status).toBe('none');
  });

  test('its price is the equation that the factor solves', async () => {
    const { events: all } = await show();
    expect(all[0]?.price?.lines.at(-1)?.roundedTotal).toBe(receiveL1.acquisitionValue);
  });

  test('that is not there is refused', async () => {
    await expect(show({ code: 'nobody' })).rejects.toMatchObject({ code: 'loan_not_found' });
  });
});
