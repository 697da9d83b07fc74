import type { BorrowerVault } from '../../application/ports/borrower-vault.ts';
import { decodeLoanEvent } from '../../application/event-codec/event-codec.ts';
import type { AskedRepurchase, AskedPrepayment } from '../../application/loans/payments.ts';
import { loanDecider } from '../../domain/loan/index.ts';
import type { LoanCommand, LoanEvent } from '../../domain/loan/index.ts';
import { calendarDate } from '../../domain/shared/calendar-date.ts';
import type { FundId, LoanCode } from '../../domain/shared/identifiers.ts';
import { L1, centsOf, scheduleOf } from '../domain/support/finance-vectors.ts';
import type { LoanVector } from '../domain/support/finance-vectors.ts';
import { NOW, receiveL1, settle } from '../domain/support/loan-story.ts';
import { FUND, fixedClock, openVault } from './application-parts.ts';
import type { TestClock } from './application-parts.ts';
import { InMemoryEventStore } from './in-memory-event-store.ts';
import { loansOver } from './loans-over.ts';
import { MemoryDocuments, ana, startProcess } from './renegotiation-world.ts';

export const streamOf = (code = 'L1'): string => `loan-app-1.${code}`;

interface Options {
  readonly clock?: TestClock;
  readonly store?: InMemoryEventStore;
  readonly documents?: MemoryDocuments;
  readonly vault?: BorrowerVault;
}

/** One process with its use cases over a store in memory, which others may share. */
export const postAssignment = ({
  clock = fixedClock(),
  store,
  documents = new MemoryDocuments(),
  vault = openVault,
}: Options = {}) => {
  const events = store ?? new InMemoryEventStore();
  const { commands, renegotiation } = startProcess(events, { documents, clock });
  return {
    store: events,
    documents,
    vault,
    commands,
    renegotiation,
    loans: loansOver({ commands, events, vault, clock }),
  };
};
export type PostAssignment = ReturnType<typeof postAssignment>;

export const carryOut = async (
  { commands }: PostAssignment,
  command: LoanCommand,
  code = 'L1',
): Promise<void> => {
  await commands.handle({
    stream: streamOf(code),
    applicationId: 'app-1',
    actor: 'test',
    correlationId: 'test',
    decide: (state) => loanDecider.decide(command, state),
  });
};

export const receive = async (world: PostAssignment, code = 'L1', vector: LoanVector = L1): Promise<void> => {
  for (const { sha256 } of receiveL1.documents) world.documents.stored.add(`${streamOf(code)}/${sha256}`);
  const borrower = await world.vault.seal(streamOf(code), ana);
  await carryOut(
    world,
    {
      ...receiveL1,
      fundId: FUND as FundId,
      borrower,
      code: code as LoanCode,
      acquisitionValue: centsOf(vector.acquisition_value),
      dateIssued: calendarDate(vector.date_issued),
      installments: scheduleOf(vector),
    },
    code,
  );
};

/** An active operation on which these installments are paid in full. */
export const activate = async (
  world: PostAssignment,
  { code = 'L1', vector = L1, paid = [] as readonly string[] } = {},
): Promise<void> => {
  await receive(world, code, vector);
  for (const type of ['ApproveLoan', 'SignLoanTerm', 'DisburseLoan'] as const)
    await carryOut(world, { type, now: NOW }, code);
  const faces = new Map(vector.installments.map((one) => [one.code, one]));
  for (const each of paid) {
    const { face_value: face = '', due_date: due = '' } = faces.get(each) ?? {};
    await carryOut(world, settle(each, face, due), code);
  }
};

export const storyOf = async ({ store }: PostAssignment, code = 'L1'): Promise<readonly LoanEvent[]> =>
  (await store.read(streamOf(code))).events.map(decodeLoanEvent);

export const prepayment = (
  value: string,
  key = 'k-1',
  more: Partial<AskedPrepayment> = {},
): AskedPrepayment => ({
  code: 'L1' as LoanCode,
  prepaymentValue: centsOf(value),
  prepaymentDate: calendarDate('2026-06-20'),
  paymentMethod: 'pix',
  idempotencyKey: key,
  ...more,
});

export const repurchase = (more: Partial<AskedRepurchase> = {}): AskedRepurchase => ({
  code: 'L1' as LoanCode,
  reason: 'repurchase',
  effectiveDate: calendarDate('2026-06-20'),
  idempotencyKey: 'r-1',
  ...more,
});
