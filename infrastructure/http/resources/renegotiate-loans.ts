import type {
  Renegotiation,
  RenegotiationReceipt as Receipt,
} from '../../../application/renegotiation/renegotiation.ts';
import { listOf, ref } from '../../../application/schemas/schema.ts';
import {
  Amount,
  Balance,
  CalendarDate,
  ProposalCode,
  Timestamp,
} from '../../../application/schemas/values.ts';
import { DOCX } from '../../support/stored-files.ts';
import { FILE_ERRORS } from './documents.ts';
import {
  fieldsOf,
  named,
  namedAmount,
  namedList,
  namedPart,
  shown,
} from '../../../application/schemas/shown-fields.ts';
import { endpoint } from '../operation.ts';
import { EXAMPLE } from '../../../application/schemas/example-values.ts';
import { PRICING, QUOTED, QUOTED_INSTALLMENT, receiptOrQuote } from './quotes.ts';
import {
  RENEGOTIATION_DATA,
  RenegotiationData,
  RenegotiationRequest,
  checkRenegotiation,
  exampleRenegotiation,
  exampleRenegotiationData,
  sampleRenegotiationData,
  renegotiationInput,
} from './renegotiation-request.ts';
import type { RenegotiationBody } from './renegotiation-request.ts';
import { askedWishes } from './sandbox-outcome.ts';
import { NumberOfInstallments } from './schedule.ts';

const FIRST = { ...ref(ProposalCode), description: 'The first of the originals.' };
const ALL = listOf(ref(ProposalCode));

const RECEIPT = fieldsOf<Receipt>()({
  original_proposal_code: shown(
    FIRST,
    ({ originalProposalCodes }) => originalProposalCodes[0]!,
    EXAMPLE.code,
  ),
  original_proposal_codes: named(ALL, [EXAMPLE.code]),
  status: shown(
    { type: 'string', const: 'renegotiated', description: 'What all originals are now.' },
    () => 'renegotiated' as const,
    'renegotiated',
  ),
  new_proposal: namedPart(
    'The operation that took their place.',
    fieldsOf<Receipt['newProposal']>()({
      originator_proposal_code: shown(ref(ProposalCode), ({ code }) => code, `${EXAMPLE.code}-R1`),
      status: named(
        { ...ref<string>('LoanStatus'), description: 'Where the new operation stands today.' },
        'received',
      ),
    }),
  ),
  effective_date: named(ref(CalendarDate), '2026-06-20'),
  processed_at: named(ref(Timestamp), '2026-06-20T15:04:05.000Z'),
});

const valueOrNull = (description: string) => ({ type: ['number', 'null'], description });

type Quote = Awaited<ReturnType<Renegotiation['quote']>>;

const QUOTE = fieldsOf<Quote>()({
  original_proposal_code: shown(FIRST, ({ originals }) => originals[0]!.code),
  original_proposal_codes: shown(ALL, ({ originals }) => originals.map(({ code }) => code)),
  ...QUOTED,
  resulting_status: shown(
    { type: 'string', const: 'renegotiated', description: 'What all originals would be.' },
    () => 'renegotiated' as const,
  ),
  new_proposal: namedPart(
    'The operation that would take their place, with the curve that it would have.',
    fieldsOf<Quote['newProposal']>()({
      originator_proposal_code: shown(ref(ProposalCode), ({ code }) => code),
      status: shown({ ...ref<string>('LoanStatus'), description: 'Where it would begin.' }, () => 'received'),
      acquisition_value: namedAmount(ref(Amount)),
      number_of_installments: named(ref(NumberOfInstallments)),
      ...PRICING,
    }),
  ),
  effective_date: named(ref(CalendarDate)),
  originals: namedList(
    'What each original would leave the fund with.',
    fieldsOf<Quote['originals'][number]>()({
      originator_proposal_code: shown(ref(ProposalCode), ({ code }) => code),
      open_face_value: namedAmount({ ...ref(Balance), description: 'Face values of what is open.' }),
      present_value: namedAmount(
        valueOrNull(
          'What is open is worth so much on the effective date; null when beyond what can be stated.',
        ),
      ),
    }),
  ),
  lines: namedList(
    'Open installments that would be written off, operation by operation.',
    fieldsOf<Quote['lines'][number]>()({
      originator_proposal_code: shown(ref(ProposalCode), ({ code }) => code),
      ...QUOTED_INSTALLMENT,
      present_value: namedAmount(
        valueOrNull('Its share of the value of its operation on the effective date; null with that value.'),
      ),
    }),
  ),
  calculated_at: named(ref(Timestamp)),
});

const ANSWER = receiptOrQuote('Renegotiation', {
  receipt: RECEIPT,
  about: { description: 'Both sides have changed, in one step.' },
  quote: QUOTE,
  done: 'The operations are replaced.',
});

export const renegotiateLoans = endpoint<RenegotiationBody>({
  id: 'renegotiateLoans',
  request: 'PATCH /loan/renegotiate',
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
      schema: RenegotiationRequest,
      limit: 262_144,
      example: exampleRenegotiation,
    },
    {
      schema: RenegotiationData,
      limit: 262_144,
      example: { ...exampleRenegotiationData, dry_run: false },
      sample: sampleRenegotiationData,
      dataPart: RENEGOTIATION_DATA,
      exampleFiles: ['debt.docx'],
      fileTypes: `application/pdf, ${DOCX}`,
    },
  ],
  success: ANSWER.success,
  errors: [
    ...FILE_ERRORS,
    ...(['invalid_document_type', 'invalid_date', 'fund_not_allowed', 'loan_not_found'] as const),
    ...(['operation_invalid_state', 'proposal_code_already_used'] as const),
  ],
  crossCheck: checkRenegotiation,
  fileNames: (body: RenegotiationBody) =>
    'new_loan' in body ? body.new_loan.backing_documents.map(({ value }) => value) : [],
  answer: async ({ renegotiation, administrator }, context, { body, files, headers }) => {
    const input = { ...renegotiationInput(body, files), ...(await askedWishes(headers, administrator)) };
    if (body.dry_run) return ANSWER.quoted(await renegotiation.quote(context, input));
    return ANSWER.done(await renegotiation.renegotiate(context, input));
  },
});
