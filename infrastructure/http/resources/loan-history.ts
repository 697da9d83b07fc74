import { listOf, object, ref, text } from '../../../application/schemas/schema.ts';
import {
  Amount,
  Balance,
  CalendarDate,
  InstallmentCode,
  ProposalCode,
  Timestamp,
} from '../../../application/schemas/values.ts';

const TIMESTAMP_OR_NULL = { type: ['string', 'null'], format: 'date-time' } as const;

export const disbursement = {
  ...object({
    value: { ...ref(Amount), description: 'What the fund paid for the operation.' },
    date: {
      ...ref(CalendarDate),
      description:
        'The day on which it paid: as the administrator stated it, otherwise the day of the registration in Sao Paulo.',
    },
  }),
  description: 'Present once the operation was disbursed.',
};

export const prepayment = object({
  value: { ...ref(Amount), description: 'What was paid in advance.' },
  date: ref(CalendarDate),
  settled_installments: {
    ...listOf(ref(InstallmentCode)),
    description: 'Installments that it paid off; empty when all of it is a credit.',
  },
  excess_value: { ...ref(Balance), description: 'What was above the present value of all that was open.' },
});

export const repurchase = {
  ...object({
    reason: text({ description: 'As it was requested.', examples: ['repurchase'] }),
    reason_detail: {
      type: ['string', 'null'],
      description: 'The remark of the request; null without one, and after the personal data was erased.',
    },
    effective_date: ref(CalendarDate),
    repurchase_value: ref(Balance),
    calculated_value: {
      ...ref(Balance),
      description: 'What the state of the operation gave, also where the request stated another value.',
    },
    calculated_at: ref(Timestamp),
    completed_at: { ...TIMESTAMP_OR_NULL, description: 'null until it is through.' },
  }),
  description: 'Present once a repurchase was requested.',
};

export const renegotiation = {
  ...object({
    role: {
      type: 'string',
      enum: ['original', 'new'],
      description: 'Whether this operation was replaced or replaces others.',
    },
    original_proposal_codes: listOf(ref(ProposalCode)),
    new_proposal_code: ref(ProposalCode),
    effective_date: ref(CalendarDate),
    completed_at: { ...TIMESTAMP_OR_NULL, description: 'null until it is through.' },
  }),
  description: 'Present when the operation took part in a renegotiation.',
};
