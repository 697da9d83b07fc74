import fc from 'fast-check';
import { PAYMENT_METHODS } from '../../../domain/installment/installment.ts';
import { REPURCHASE_REASONS } from '../../../domain/loan/exits.ts';
import { loanDecider } from '../../../domain/loan/index.ts';
import type { LoanCommand, LoanEvent, LoanState, ReceiveLoan } from '../../../domain/loan/index.ts';
import { DomainError } from '../../../domain/shared/domain-error.ts';
import { cents } from '../../../domain/shared/money.ts';
import { NOW, installmentCode, receiveL1 } from './loan-story.ts';
import { ISSUED, anyDate, storyPosition } from './positions.ts';

const amount = (max: number) => fc.integer({ min: 1, max }).map(cents);
const method = fc.constantFrom(...PAYMENT_METHODS);
const code = fc.integer({ min: 1, max: 12 }).map((n) => installmentCode(String(n).padStart(3, '0')));

const anyReceiveLoan: fc.Arbitrary<ReceiveLoan> = storyPosition.map(({ acquisitionValue, installments }) => ({
  ...receiveL1,
  acquisitionValue,
  dateIssued: ISSUED,
  installments: installments.map(({ code: name, dueDate, faceValue }) => ({
    code: name,
    dueDate,
    faceValue,
  })),
}));

const cession: fc.Arbitrary<LoanCommand> = fc.constantFrom<LoanCommand>(
  { type: 'ApproveLoan', now: NOW },
  { type: 'SignLoanTerm', now: NOW },
  { type: 'DisburseLoan', now: NOW },
  { type: 'RejectLoan', reasons: [], now: NOW },
  { type: 'CompleteRepurchase', now: NOW },
);
const payment: fc.Arbitrary<LoanCommand> = fc.oneof(
  fc.record({
    type: fc.constant('SettleInstallment' as const),
    installmentCode: code,
    settledAt: anyDate,
    settledValue: amount(200_000_000),
    paymentMethod: method,
    now: fc.constant(NOW),
  }),
  fc.record({
    type: fc.constant('ProcessPrepayment' as const),
    prepaymentValue: amount(400_000_000),
    prepaymentDate: anyDate,
    paymentMethod: method,
    now: fc.constant(NOW),
  }),
);
const overdue: fc.Arbitrary<LoanCommand> = anyDate.map((today) => ({
  type: 'MarkInstallmentsOverdue',
  today,
  now: NOW,
}));
const repurchase: fc.Arbitrary<LoanCommand> = fc.record({
  type: fc.constant('RequestRepurchase' as const),
  reason: fc.constantFrom(...REPURCHASE_REASONS),
  effectiveDate: anyDate,
  now: fc.constant(NOW),
});
const documents: fc.Arbitrary<LoanCommand> = fc
  .uniqueArray(fc.record({ name: fc.constantFrom('a', 'b', 'c'), digit: fc.constantFrom('1', '2') }), {
    selector: ({ name }) => name,
    minLength: 1,
  })
  .map((files) => ({
    type: 'AddDocuments',
    documents: files.map(({ name, digit }) => ({
      documentId: `${name}-${digit}`,
      type: 'invoice',
      value: `${name}.pdf`,
      sha256: digit.repeat(64),
      size: 1,
      receivedAt: NOW,
    })),
    now: NOW,
  }));
/** Commands that may arrive twice: the administrator's and the timer's. */
export const repeatableCommand = fc.oneof(
  { arbitrary: cession, weight: 3 },
  { arbitrary: overdue, weight: 1 },
);
export const anyCommand = fc.oneof(
  { arbitrary: payment, weight: 6 },
  { arbitrary: repurchase, weight: 1 },
  { arbitrary: documents, weight: 1 },
  { arbitrary: repeatableCommand, weight: 3 },
);

/** The events that a command causes; none when it is refused. Anything but a refusal is a defect and gets through. */
export const decideOrRefuse = (command: LoanCommand, state: LoanState): readonly LoanEvent[] => {
  try {
    return loanDecider.decide(command, state);
  } catch (error) {
    if (error instanceof DomainError) return [];
    throw error;
  }
};

interface Told {
  readonly events: readonly LoanEvent[];
  readonly state: LoanState;
}

const tell = (commands: readonly LoanCommand[]): Told => {
  let state = loanDecider.initialState;
  const events: LoanEvent[] = [];
  for (const command of commands) {
    const decided = decideOrRefuse(command, state);
    events.push(...decided);
    state = decided.reduce((before, event) => loanDecider.evolve(before, event), state);
  }
  return { events, state };
};

/** An operation that became active and then lived through whatever was asked of it. */
export const anyStory: fc.Arbitrary<Told> = fc
  .tuple(anyReceiveLoan, fc.array(anyCommand, { maxLength: 25, size: 'max' }))
  .map(([receive, commands]) =>
    tell([
      receive,
      { type: 'ApproveLoan', now: NOW },
      { type: 'SignLoanTerm', now: NOW },
      { type: 'DisburseLoan', now: NOW },
      ...commands,
    ]),
  );
