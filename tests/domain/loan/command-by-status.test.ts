import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { loanDecider } from '../../../domain/loan/index.ts';
import type { LoanCommand, LoanDocument, LoanEvent, LoanState } from '../../../domain/loan/index.ts';
import { DomainError } from '../../../domain/shared/domain-error.ts';
import { stateAfter } from '../../../domain/shared/decider.ts';
import {
  NOW,
  activated,
  approved,
  completeRepurchase,
  markOverdue,
  prepay,
  receiveL1,
  received,
  rejected,
  repurchaseCompleted,
  repurchaseRequested,
  requestRepurchase,
  settle,
  termSigned,
} from '../support/loan-story.ts';
import {
  LEASE_END,
  R1,
  R2,
  renegotiated,
  reserved,
  successor,
  terms,
} from '../support/renegotiation-story.ts';

const pending = [...activated, repurchaseRequested('repurchase')];
const fullySettled = loanDecider.decide(prepay('20000.00'), stateAfter(loanDecider, activated));

const stories: { readonly [Status in LoanState['status']]: readonly LoanEvent[] } = {
  none: [],
  code_reserved: [reserved()],
  received: [received],
  approved: [received, approved],
  rejected: [received, rejected],
  term_signed: [received, approved, termSigned],
  active: activated,
  reserved: [...activated, reserved()],
  settled: [...activated, ...fullySettled],
  repurchase_pending: pending,
  repurchased: [...pending, repurchaseCompleted('repurchase', 'repurchased')],
  reversed: [...pending, repurchaseCompleted('cession_reversal', 'reversed')],
  resolved: [...pending, repurchaseCompleted('resolution', 'resolved')],
  renegotiated: [...activated, reserved(), renegotiated],
};

const renamed = (document: LoanDocument): LoanDocument => ({ ...document, value: 'more.pdf' });

const commands: { readonly [Type in LoanCommand['type']]: LoanCommand } = {
  ReceiveLoan: receiveL1,
  ApproveLoan: { type: 'ApproveLoan', now: NOW },
  RejectLoan: { type: 'RejectLoan', reasons: rejected.reasons, now: NOW },
  SignLoanTerm: { type: 'SignLoanTerm', now: NOW },
  DisburseLoan: { type: 'DisburseLoan', now: NOW },
  SettleInstallment: settle('001'),
  MarkInstallmentsOverdue: markOverdue('2026-02-16'),
  ProcessPrepayment: prepay('100.00'),
  RequestRepurchase: requestRepurchase('repurchase'),
  CompleteRepurchase: completeRepurchase,
  AddDocuments: { type: 'AddDocuments', documents: received.documents.map(renamed), now: NOW },
  ForgetBorrower: { type: 'ForgetBorrower', now: NOW },
  ReserveLoan: { type: 'ReserveLoan', renegotiationId: R2, leaseEndsAt: LEASE_END },
  ReserveLoanCode: {
    type: 'ReserveLoanCode',
    renegotiationId: R2,
    code: received.code,
    leaseEndsAt: LEASE_END,
  },
  ReleaseReservation: { type: 'ReleaseReservation', renegotiationId: R1 },
  RenegotiateLoan: { type: 'RenegotiateLoan', renegotiation: terms, renegotiatedAt: NOW },
  ReceiveRenegotiatedLoan: { type: 'ReceiveRenegotiatedLoan', renegotiationId: R1, received: successor },
  CompleteRenegotiation: { type: 'CompleteRenegotiation', renegotiationId: R1, completedAt: NOW },
};

const document = readFileSync(new URL('../../../docs/terminal-states.md', import.meta.url), 'utf8');
const cells = (line: string): readonly string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());

interface Cell {
  readonly status: string;
  readonly command: string;
  readonly cell: string;
}

/** The document's tables whose first column is `status`: the event, `-` for none, or why it is refused. */
const table: readonly Cell[] = document
  .split('\n\n')
  .map((block) => block.trim().split('\n').map(cells))
  .filter(([header]) => header?.[0] === 'status')
  .flatMap(([header = [], , ...rows]) =>
    rows.flatMap(([status = '', ...outcomes]) =>
      outcomes.map((cell, i) => ({ status, command: header[i + 1] ?? '', cell })),
    ),
  );

const refusals: Readonly<Record<string, string>> = {
  loan_not_found: '404',
  operation_invalid_state: '422',
  proposal_code_already_used: 'used',
  concurrent_modification: '409',
};

const outcome = (command: LoanCommand, state: LoanState): string => {
  try {
    return (
      loanDecider
        .decide(command, state)
        .map(({ type }) => type)
        .join(' ') || '-'
    );
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    if (error.code === 'operation_invalid_state') expect(error.message).toContain(`is ${state.status};`);
    return refusals[error.code] ?? error.code;
  }
};

describe('every command in every status', () => {
  test('the document has exactly one cell for each', () => {
    const wanted = Object.keys(stories).flatMap((status) =>
      Object.keys(commands).map((command) => `${status} ${command}`),
    );
    expect(table.map(({ status, command }) => `${status} ${command}`).sort()).toEqual(wanted.sort());
  });

  test.each(Object.entries(stories))('%s is where its story leads', (status, story) => {
    expect(stateAfter(loanDecider, story).status).toBe(status);
  });

  test.each(table)('$status, $command: $cell', ({ status, command, cell }) => {
    const state = stateAfter(loanDecider, stories[status as LoanState['status']]);
    expect(outcome(commands[command as LoanCommand['type']], state)).toBe(cell);
  });
});
