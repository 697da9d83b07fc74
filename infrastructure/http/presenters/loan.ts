import type { LoanReceipt } from '../../../application/loans/inputs.ts';
import type {
  InstallmentDetails,
  LoanDetails,
  PrepaymentDetails,
  RenegotiationDetails,
  RepurchaseDetails,
} from '../../../application/loans/loan-details.ts';
import type { LoanSummary } from '../../../application/loans/read-loan.ts';
import { cents } from '../../../domain/shared/money.ts';
import { amount, amountOrNull } from '../resources/amounts.ts';
import { presentDocument } from './document.ts';

export const presentLoanReceipt = ({ code, status, fundId, receivedAt }: LoanReceipt): object => ({
  originator_proposal_code: code,
  status,
  fund_id: fundId,
  received_at: receivedAt,
});

export const presentLoanSummary = (loan: LoanSummary): object => ({
  originator_proposal_code: loan.code,
  fund_id: loan.fundId,
  status: loan.status,
  product_type: loan.productType,
  acquisition_value: amount(cents(loan.acquisitionValue)),
  number_of_installments: loan.numberOfInstallments,
  date_issued: loan.dateIssued,
  received_at: loan.receivedAt,
  updated_at: loan.updatedAt,
});

const installment = (details: InstallmentDetails): object => ({
  code: details.code,
  due_date: details.dueDate,
  face_value: amount(details.faceValue),
  status: details.status,
  settled_at: details.settledAt,
  settled_value: amountOrNull(details.settledValue),
  payment_method: details.paymentMethod,
  outstanding_value: amount(details.outstandingValue),
});

const prepayment = (details: PrepaymentDetails): object => ({
  value: amount(details.value),
  date: details.date,
  settled_installments: details.settledInstallments,
  excess_value: amount(details.excessValue),
});

const repurchase = (details: RepurchaseDetails): object => ({
  reason: details.reason,
  reason_detail: details.reasonDetail,
  effective_date: details.effectiveDate,
  repurchase_value: amount(details.repurchaseValue),
  calculated_value: amount(details.calculatedValue),
  calculated_at: details.calculatedAt,
  completed_at: details.completedAt,
});

const renegotiation = (details: RenegotiationDetails): object => ({
  role: details.role,
  original_proposal_codes: details.originalProposalCodes,
  new_proposal_code: details.newProposalCode,
  effective_date: details.effectiveDate,
  completed_at: details.completedAt,
});

const borrower = (details: NonNullable<LoanDetails['borrower']>): object => ({
  document_type: details.documentType,
  document_number: details.documentNumber,
  name: details.name,
});

const balances = (details: LoanDetails['balances']): object => ({
  open_face_value: amount(details.openFaceValue),
  received_value: amount(details.receivedValue),
  payoff_value: amountOrNull(details.payoffValue),
  payoff_date: details.payoffDate,
});

export const presentLoan = (loan: LoanDetails): object => ({
  ...presentLoanSummary(loan),
  status_history: loan.statusHistory.map(({ status, at }) => ({ status, at })),
  borrower: loan.borrower && borrower(loan.borrower),
  installments: loan.installments.map(installment),
  documents: loan.documents.map(presentDocument),
  balances: balances(loan.balances),
  ...(loan.disbursement && {
    disbursement: { value: amount(loan.disbursement.value), date: loan.disbursement.date },
  }),
  prepayments: loan.prepayments.map(prepayment),
  ...(loan.repurchase && { repurchase: repurchase(loan.repurchase) }),
  ...(loan.renegotiation && { renegotiation: renegotiation(loan.renegotiation) }),
  ...(loan.rejectionReasons && {
    rejection_reasons: loan.rejectionReasons.map(({ code, message }) => ({ code, message })),
  }),
  version: loan.version,
});
