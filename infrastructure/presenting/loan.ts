import type { LoanDetails } from '../../application/loans/loan-details.ts';
import { amount, amountOrNull } from '../../application/support/json-amounts.ts';
import { presentLoanSummary } from './loan-columns.ts';

export const presentDocument = (document: LoanDetails['documents'][number]): object => ({
  document_id: document.documentId,
  type: document.type,
  value: document.value,
  sha256: document.sha256,
  size: document.size,
  received_at: document.receivedAt,
});

const presentPrepayment = (details: LoanDetails['prepayments'][number]): object => ({
  value: amount(details.value),
  date: details.date,
  settled_installments: details.settledInstallments,
  excess_value: amount(details.excessValue),
});

const presentRepurchase = (details: NonNullable<LoanDetails['repurchase']>): object => ({
  reason: details.reason,
  reason_detail: details.reasonDetail,
  effective_date: details.effectiveDate,
  repurchase_value: amount(details.repurchaseValue),
  calculated_value: amount(details.calculatedValue),
  calculated_at: details.calculatedAt,
  completed_at: details.completedAt,
});

const presentRenegotiation = (details: NonNullable<LoanDetails['renegotiation']>): object => ({
  role: details.role,
  original_proposal_codes: details.originalProposalCodes,
  new_proposal_code: details.newProposalCode,
  effective_date: details.effectiveDate,
  completed_at: details.completedAt,
});

const presentInstallment = (details: LoanDetails['installments'][number]): object => ({
  code: details.code,
  due_date: details.dueDate,
  face_value: amount(details.faceValue),
  status: details.status,
  settled_at: details.settledAt,
  settled_value: amountOrNull(details.settledValue),
  payment_method: details.paymentMethod,
  outstanding_value: amount(details.outstandingValue),
});

const presentBorrower = (details: NonNullable<LoanDetails['borrower']>): object => ({
  document_type: details.documentType,
  document_number: details.documentNumber,
  name: details.name,
});

const presentBalances = (details: LoanDetails['balances']): object => ({
  open_face_value: amount(details.openFaceValue),
  received_value: amount(details.receivedValue),
  payoff_value: amountOrNull(details.payoffValue),
  payoff_date: details.payoffDate,
});

export const presentLoan = ({ loan, ...details }: LoanDetails): object => ({
  ...presentLoanSummary(loan),
  status_history: details.statusHistory.map(({ status, at }) => ({ status, at })),
  borrower: details.borrower && presentBorrower(details.borrower),
  installments: details.installments.map(presentInstallment),
  documents: details.documents.map(presentDocument),
  balances: presentBalances(details.balances),
  ...(details.disbursement && {
    disbursement: { value: amount(details.disbursement.value), date: details.disbursement.date },
  }),
  prepayments: details.prepayments.map(presentPrepayment),
  ...(details.repurchase && { repurchase: presentRepurchase(details.repurchase) }),
  ...(details.renegotiation && { renegotiation: presentRenegotiation(details.renegotiation) }),
  ...(details.rejectionReasons && {
    rejection_reasons: details.rejectionReasons.map(({ code, message }) => ({ code, message })),
  }),
  version: loan.version,
});
