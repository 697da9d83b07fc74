import type {
  InstallmentDetails,
  LoanDetails,
  LoanSummary,
  PrepaymentDetails,
  RenegotiationDetails,
  RepurchaseDetails,
} from '../../application/loans/loan-details.ts';
import { amount, amountOrNull } from '../../application/support/json-amounts.ts';

export const presentLoanSummary = (loan: LoanSummary): object => ({
  originator_proposal_code: loan.code,
  fund_id: loan.fundId,
  status: loan.status,
  product_type: loan.productType,
  acquisition_value: amount(loan.acquisitionValue),
  number_of_installments: loan.numberOfInstallments,
  date_issued: loan.dateIssued,
  received_at: loan.receivedAt,
  updated_at: loan.updatedAt,
});

export const presentDocument = (document: LoanDetails['documents'][number]): object => ({
  document_id: document.documentId,
  type: document.type,
  value: document.value,
  sha256: document.sha256,
  size: document.size,
  received_at: document.receivedAt,
});

const presentPrepayment = (details: PrepaymentDetails): object => ({
  value: amount(details.value),
  date: details.date,
  settled_installments: details.settledInstallments,
  excess_value: amount(details.excessValue),
});

const presentRepurchase = (details: RepurchaseDetails): object => ({
  reason: details.reason,
  reason_detail: details.reasonDetail,
  effective_date: details.effectiveDate,
  repurchase_value: amount(details.repurchaseValue),
  calculated_value: amount(details.calculatedValue),
  calculated_at: details.calculatedAt,
  completed_at: details.completedAt,
});

const presentRenegotiation = (details: RenegotiationDetails): object => ({
  role: details.role,
  original_proposal_codes: details.originalProposalCodes,
  new_proposal_code: details.newProposalCode,
  effective_date: details.effectiveDate,
  completed_at: details.completedAt,
});

const presentInstallment = (details: InstallmentDetails): object => ({
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

export const presentLoan = (loan: LoanDetails): object => ({
  ...presentLoanSummary(loan),
  status_history: loan.statusHistory.map(({ status, at }) => ({ status, at })),
  borrower: loan.borrower && presentBorrower(loan.borrower),
  installments: loan.installments.map(presentInstallment),
  documents: loan.documents.map(presentDocument),
  balances: presentBalances(loan.balances),
  ...(loan.disbursement && {
    disbursement: { value: amount(loan.disbursement.value), date: loan.disbursement.date },
  }),
  prepayments: loan.prepayments.map(presentPrepayment),
  ...(loan.repurchase && { repurchase: presentRepurchase(loan.repurchase) }),
  ...(loan.renegotiation && { renegotiation: presentRenegotiation(loan.renegotiation) }),
  ...(loan.rejectionReasons && {
    rejection_reasons: loan.rejectionReasons.map(({ code, message }) => ({ code, message })),
  }),
  version: loan.version,
});
