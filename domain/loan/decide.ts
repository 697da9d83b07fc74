import { addDocuments } from './add-documents.ts';
import { approveLoan, disburseLoan, rejectLoan, signLoanTerm } from './cession.ts';
import type { LoanCommand, RenegotiationStep } from './commands.ts';
import type { LoanEvent } from './events.ts';
import { forgetBorrower } from './forget-borrower.ts';
import { markInstallmentsOverdue, processPrepayment, settleInstallment } from './payments.ts';
import { receiveLoan } from './receive-loan.ts';
import { completeRenegotiation, takeRenegotiationStep } from './renegotiation.ts';
import { completeRepurchase, requestRepurchase } from './repurchase.ts';
import { requireUnreserved } from './state.ts';
import type { LoanState } from './state.ts';

const STEPS: { readonly [Type in RenegotiationStep['type']]: true } = {
  ReserveLoan: true,
  ReserveLoanCode: true,
  ReleaseReservation: true,
  RenegotiateLoan: true,
  ReceiveRenegotiatedLoan: true,
};

const isRenegotiationStep = (command: LoanCommand): command is RenegotiationStep => command.type in STEPS;

export const decide = (command: LoanCommand, state: LoanState): readonly LoanEvent[] =>
  isRenegotiationStep(command)
    ? takeRenegotiationStep(command, state)
    : decideUnreserved(command, requireUnreserved(state));

/** Everything but the steps of the renegotiation itself waits until the reservation is gone. */
const decideUnreserved = (
  command: Exclude<LoanCommand, RenegotiationStep>,
  state: LoanState,
): readonly LoanEvent[] => {
  switch (command.type) {
    case 'ReceiveLoan':
      return receiveLoan(command, state);
    case 'ApproveLoan':
      return approveLoan(command, state);
    case 'RejectLoan':
      return rejectLoan(command, state);
    case 'SignLoanTerm':
      return signLoanTerm(command, state);
    case 'DisburseLoan':
      return disburseLoan(command, state);
    case 'SettleInstallment':
      return settleInstallment(command, state);
    case 'MarkInstallmentsOverdue':
      return markInstallmentsOverdue(command, state);
    case 'ProcessPrepayment':
      return processPrepayment(command, state);
    case 'RequestRepurchase':
      return requestRepurchase(command, state);
    case 'CompleteRepurchase':
      return completeRepurchase(command, state);
    case 'AddDocuments':
      return addDocuments(command, state);
    case 'ForgetBorrower':
      return forgetBorrower(command, state);
    case 'CompleteRenegotiation':
      return completeRenegotiation(command, state);
  }
};
