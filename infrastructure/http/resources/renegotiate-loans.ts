import type { Renegotiation } from '../../../application/renegotiation/renegotiation.ts';
import type { RenegotiationReceipt as Receipt } from '../../../application/renegotiation/request.ts';
import { component, object, ref, schemasOf } from '../../../application/schemas/schema.ts';
import {
  Amount,
  Balance,
  CalendarDate,
  LoanStatus,
  ProposalCode,
  Timestamp,
} from '../../../application/schemas/values.ts';
import { DOCX } from '../../support/stored-files.ts';
import { REPLAYED } from '../openapi/components/headers.ts';
import { json } from '../openapi/operation.ts';
import recorded from '../openapi/recorded-answers.json' with { type: 'json' };
import { forClient, ok, outcomeReply } from '../operation.ts';
import { amount, amountOrNull } from '../../../application/support/json-amounts.ts';
import { FILE_ERRORS } from './backing-documents.ts';
import { endpoint } from './endpoint.ts';
import { EXAMPLE } from '../../../application/schemas/example-values.ts';
import { presentQuotedInstallment, quotedInstallment, quotedOperation, receiptOrQuote } from './quotes.ts';
import {
  RENEGOTIATION_DATA,
  RenegotiationData,
  RenegotiationRequest,
  checkRenegotiation,
  exampleRenegotiation,
  exampleRenegotiationData,
  sampleRenegotiationData,
  renegotiationInput,
  renegotiationRequestSchemas,
} from './renegotiation-request.ts';
import { askedWishes } from './sandbox-outcome.ts';
import { NumberOfInstallments } from './schedule.ts';

const RenegotiationReceipt = component('RenegotiationReceipt', {
  ...object({
    original_proposal_code: { ...ref(ProposalCode), description: 'The first of the originals.' },
    original_proposal_codes: { type: 'array', items: ref(ProposalCode) },
    status: { type: 'string', const: 'renegotiated', description: 'What all originals are now.' },
    new_proposal: {
      ...object({
        originator_proposal_code: ref(ProposalCode),
        status: { ...ref(LoanStatus), description: 'Where the new operation stands today.' },
      }),
      description: 'The operation that took their place.',
    },
    effective_date: ref(CalendarDate),
    processed_at: ref(Timestamp),
  }),
  description: 'Both sides have changed, in one step.',
});

const exampleReceipt = {
  original_proposal_code: EXAMPLE.code,
  original_proposal_codes: [EXAMPLE.code],
  status: 'renegotiated',
  new_proposal: { originator_proposal_code: `${EXAMPLE.code}-R1`, status: 'received' },
  effective_date: '2026-06-20',
  processed_at: '2026-06-20T15:04:05.000Z',
};

const present = (receipt: Receipt): object => ({
  original_proposal_code: receipt.originalProposalCodes[0],
  original_proposal_codes: receipt.originalProposalCodes,
  status: 'renegotiated',
  new_proposal: {
    originator_proposal_code: receipt.newProposal.code,
    status: receipt.newProposal.status,
  },
  effective_date: receipt.effectiveDate,
  processed_at: receipt.processedAt,
});

const valueOrNull = (description: string) => ({ type: ['number', 'null'], description }) as const;

const RenegotiationQuote = component('RenegotiationQuote', {
  ...object({
    original_proposal_code: { ...ref(ProposalCode), description: 'The first of the originals.' },
    original_proposal_codes: { type: 'array', items: ref(ProposalCode) },
    status: quotedOperation.status,
    dry_run: quotedOperation.dry_run,
    resulting_status: { type: 'string', const: 'renegotiated', description: 'What all originals would be.' },
    new_proposal: {
      ...object({
        originator_proposal_code: ref(ProposalCode),
        status: { ...ref(LoanStatus), description: 'Where it would begin.' },
        acquisition_value: ref(Amount),
        number_of_installments: ref(NumberOfInstallments),
        pricing_policy: quotedOperation.pricing_policy,
        daily_factor: quotedOperation.daily_factor,
      }),
      description: 'The operation that would take their place, with the curve that it would have.',
    },
    effective_date: ref(CalendarDate),
    originals: {
      type: 'array',
      items: object({
        originator_proposal_code: ref(ProposalCode),
        open_face_value: { ...ref(Balance), description: 'Face values of what is open.' },
        present_value: valueOrNull(
          'What is open is worth so much on the effective date; null when beyond what can be stated.',
        ),
      }),
      description: 'What each original would leave the fund with.',
    },
    lines: {
      type: 'array',
      items: object({
        originator_proposal_code: ref(ProposalCode),
        ...quotedInstallment,
        present_value: valueOrNull(
          'Its share of the value of its operation on the effective date; null with that value.',
        ),
      }),
      description: 'Open installments that would be written off, operation by operation.',
    },
    calculated_at: ref(Timestamp),
  }),
  description: 'Answer to a renegotiation with `dry_run`.',
});

type Quote = Awaited<ReturnType<Renegotiation['quote']>>;

const presentQuote = ({ originals, newProposal, effectiveDate, lines, calculatedAt }: Quote): object => ({
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
    ...presentQuotedInstallment(line),
    present_value: amountOrNull(line.presentValue),
  })),
  calculated_at: calculatedAt,
});

const RenegotiationAnswer = receiptOrQuote('RenegotiationAnswer', RenegotiationReceipt, RenegotiationQuote);
export const renegotiationSchemas = {
  ...renegotiationRequestSchemas,
  ...schemasOf(RenegotiationReceipt, RenegotiationQuote, RenegotiationAnswer),
};

type Body = RenegotiationRequest | RenegotiationData;

export const renegotiateLoans = endpoint<Body>({
  id: 'renegotiateLoans',
  method: 'patch',
  path: '/loan/renegotiate',
  tag: 'Loans',
  summary: 'Replace operations by a new one',
  description:
    'Writes off active operations and brings in the one that takes their place, all of it or nothing. JSON replaces a ' +
    'single operation and keeps its documents; a form with the part `renegotiation_data` replaces one or several and ' +
    'brings new documents, PDF or Word, of the type `renegotiation_document`. The new operation then takes the usual ' +
    'way to its disbursement, except that it cannot be rejected any more; when it is active, each original gets its ' +
    'event `renegotiation_completed`. Every original keeps the request under its own code as the key, so sending it ' +
    'again answers with the status of today, in whatever order the originals are listed. With `dry_run` nothing of this ' +
    'happens; the answer says what would.',
  access: 'loans:write',
  bucket: 'renegotiate',
  sandboxParameters: ['SandboxHold', 'SandboxDisburse', 'SandboxStrict', 'SandboxFail'],
  body: [
    {
      mediaType: 'application/json',
      schema: RenegotiationRequest,
      limit: 262_144,
      example: exampleRenegotiation,
    },
    {
      mediaType: 'multipart/form-data',
      schema: RenegotiationData,
      limit: 262_144,
      example: { ...exampleRenegotiationData, dry_run: false },
      sample: sampleRenegotiationData,
      dataPart: RENEGOTIATION_DATA,
      exampleFiles: ['debt.docx'],
      fileTypes: `application/pdf, ${DOCX}`,
    },
  ],
  success: [
    {
      ...json(200, 'The operations are replaced.', RenegotiationAnswer, exampleReceipt),
      quote: recorded.quotes.renegotiation,
      headers: REPLAYED,
    },
  ],
  errors: [
    ...FILE_ERRORS,
    ...(['invalid_document_type', 'invalid_date', 'fund_not_allowed', 'loan_not_found'] as const),
    ...(['operation_invalid_state', 'proposal_code_already_used'] as const),
    ...(['idempotency_conflict', 'concurrent_modification'] as const),
  ],
  handler: ({ app: { renegotiation, administrator } }) => ({
    crossCheck: checkRenegotiation,
    fileNames: (body: Body) =>
      'new_loan' in body ? body.new_loan.backing_documents.map(({ value }) => value) : [],
    run: forClient<Body>(async (context, { body, files, headers }) => {
      const input = { ...renegotiationInput(body, files), ...(await askedWishes(headers, administrator)) };
      if (body.dry_run) return ok(presentQuote(await renegotiation.quote(context, input)));
      return outcomeReply(200, await renegotiation.renegotiate(context, input), present);
    }),
  }),
});
