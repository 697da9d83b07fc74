import type {
  PrepaymentQuote,
  PrepaymentQuoteLine,
  QuoteLine,
  RepurchaseQuote,
} from '../../../application/loans/quotes.ts';
import type { RenegotiationQuote } from '../../../application/renegotiation/renegotiation-quote.ts';
import { amount, amountOrNull } from '../resources/amounts.ts';

const presentPlace = (line: Omit<QuoteLine, 'presentValue'>): object => ({
  installment_code: line.installmentCode,
  due_date: line.dueDate,
  days: line.days,
  face_value: amount(line.faceValue),
});

const presentLine = (line: QuoteLine): object => ({
  ...presentPlace(line),
  present_value: amount(line.presentValue),
});

const presentPrepaymentLine = (line: PrepaymentQuoteLine): object => ({
  ...presentLine(line),
  paid_off: line.paidOff,
});

const beginning = (quote: PrepaymentQuote | RepurchaseQuote): object => ({
  originator_proposal_code: quote.code,
  status: 'quoted',
  dry_run: true,
  resulting_status: quote.resultingStatus,
  pricing_policy: quote.pricing.policy,
  daily_factor: quote.pricing.dailyFactor,
});

export const presentRenegotiationQuote = ({
  originals,
  newProposal,
  effectiveDate,
  lines,
  calculatedAt,
}: RenegotiationQuote): object => ({
  original_proposal_code: originals[0]?.code,
  original_proposal_codes: originals.map(({ code }) => code),
  status: 'quoted',
  dry_run: true,
  resulting_status: 'renegotiated',
  new_proposal: {
    originator_proposal_code: newProposal.code,
    status: 'received',
    acquisition_value: amount(newProposal.acquisitionValue),
    number_of_installments: newProposal.numberOfInstallments,
    pricing_policy: newProposal.pricing.policy,
    daily_factor: newProposal.pricing.dailyFactor,
  },
  effective_date: effectiveDate,
  originals: originals.map((original) => ({
    originator_proposal_code: original.code,
    open_face_value: amount(original.openFaceValue),
    present_value: amountOrNull(original.presentValue),
  })),
  lines: lines.map((line) => ({
    originator_proposal_code: line.code,
    ...presentPlace(line),
    present_value: amountOrNull(line.presentValue),
  })),
  calculated_at: calculatedAt,
});

export const presentPrepaymentQuote = (quote: PrepaymentQuote): object => ({
  ...beginning(quote),
  prepayment_value: amount(quote.prepaymentValue),
  prepayment_date: quote.prepaymentDate,
  payoff_value: amount(quote.payoffValue),
  settled_installments: quote.settledInstallments,
  remaining_balance: amount(quote.remainingBalance),
  excess_value: amount(quote.excessValue),
  ...(quote.partiallyPaid && {
    partially_paid: {
      installment_code: quote.partiallyPaid.installmentCode,
      outstanding_value: amount(quote.partiallyPaid.outstandingValue),
    },
  }),
  lines: quote.lines.map(presentPrepaymentLine),
  calculated_at: quote.calculatedAt,
});

export const presentRepurchaseQuote = (quote: RepurchaseQuote): object => ({
  ...beginning(quote),
  reason: quote.reason,
  effective_date: quote.effectiveDate,
  repurchase_value: amount(quote.repurchaseValue),
  calculated_value: amount(quote.calculatedValue),
  value_source: quote.valueSource,
  acquisition_value: amount(quote.acquisitionValue),
  disbursed_value: amount(quote.disbursedValue),
  exit_basis: quote.exitBasis,
  received_value: amount(quote.receivedValue),
  lines: quote.lines.map(presentLine),
  calculated_at: quote.calculatedAt,
});
