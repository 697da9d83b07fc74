import { ELSEWHERE, object, ref, refused, requestObject } from '../../../../application/schemas/schema.ts';
import type { Schema } from '../../../../application/schemas/schema.ts';
import { dryRun } from './quotes.ts';

const MOST_ORIGINALS = 50;

const original: Schema = {
  ...ref('ProposalCode'),
  description: 'The active operation that is replaced. Its code is the idempotency key.',
};

const originals: Schema = {
  type: 'array',
  minItems: 1,
  maxItems: MOST_ORIGINALS,
  items: ref('ProposalCode'),
  description: 'The active operations that are replaced, each once, all of one fund.',
  ...refused('invalid_count', `must be a list of 1 to ${MOST_ORIGINALS} codes`),
};

const proposalFields: Readonly<Record<string, Schema>> = {
  originator_proposal_code: {
    ...ref('ProposalCode'),
    description: 'Code of the operation that comes in; nothing may have been assigned under it before.',
  },
  number_of_installments: ref('NumberOfInstallments'),
  acquisition_value: { ...ref('Amount'), description: 'What the new operation is worth to the fund.' },
  installments: ref('NewInstallments'),
};

const WITHOUT_DOCUMENTS = {
  backing_documents: 'is not a field here; new documents are sent as a form with the part renegotiation_data',
};

const effectiveDate: Schema = {
  ...ref('CalendarDate'),
  description: 'Day from which the new schedule counts; no original was issued after it.',
};

const newLoan: Schema = {
  ...requestObject(
    {
      ...proposalFields,
      backing_documents: ref('BackingDocuments'),
      product_type: { ...ref('ProductType'), description: 'Left out: that of the first original.' },
      date_issued: { ...ref('CalendarDate'), description: 'Left out: the effective date.' },
      borrower: { ...ref('Borrower'), description: 'Left out: the one that all originals have.' },
    },
    ['product_type', 'date_issued', 'borrower'],
  ),
  description:
    'The operation that comes in, with documents of the type `renegotiation_document`. Without a borrower it keeps ' +
    'the one that all originals have.',
};

/** What a renegotiation is asked for with, and how it is answered. */
export const renegotiationSchemas: Readonly<Record<string, Schema>> = {
  NewProposal: {
    ...object(proposalFields),
    [ELSEWHERE]: WITHOUT_DOCUMENTS,
    description:
      'The operation that comes in. Fund, product, borrower and documents are those of the original.',
  },
  NewLoan: newLoan,
  RenegotiationRequest: {
    ...requestObject(
      {
        original_proposal_code: original,
        new_proposal: ref('NewProposal'),
        effective_date: effectiveDate,
        dry_run: dryRun,
      },
      ['dry_run'],
    ),
    [ELSEWHERE]: WITHOUT_DOCUMENTS,
    description: 'Replaces one operation, without new documents.',
  },
  RenegotiationData: {
    ...requestObject(
      {
        original_proposal_codes: originals,
        original_proposal_code: { ...original, description: 'For a single operation, instead of the list.' },
        new_loan: ref('NewLoan'),
        effective_date: effectiveDate,
        dry_run: dryRun,
      },
      ['original_proposal_codes', 'original_proposal_code', 'dry_run'],
    ),
    description: 'Replaces one or several operations, with new documents.',
  },
  RenegotiationReceipt: {
    ...object({
      original_proposal_code: { ...ref('ProposalCode'), description: 'The first of the originals.' },
      original_proposal_codes: { type: 'array', items: ref('ProposalCode') },
      status: { type: 'string', const: 'renegotiated', description: 'What all originals are now.' },
      new_proposal: {
        ...object({
          originator_proposal_code: ref('ProposalCode'),
          status: { ...ref('LoanStatus'), description: 'Where the new operation stands today.' },
        }),
        description: 'The operation that took their place.',
      },
      effective_date: ref('CalendarDate'),
      processed_at: ref('Timestamp'),
    }),
    description: 'Both sides have changed, in one step.',
  },
};
