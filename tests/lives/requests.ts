import { multipart } from '../support/api-client.ts';
import { money } from './model/book.ts';
import type { Person } from './model/book.ts';
import type { ApplicationModel } from './model/application-model.ts';
import type { Expected } from './model/answers.ts';
import type {
  AssignInput,
  Now,
  PrepayInput,
  RenegotiateInput,
  RepurchaseInput,
  ScheduleInput,
  SettleInput,
} from './model/inputs.ts';
import { known, listed, uploads } from './papers.ts';
import type { SentPaper } from './papers.ts';
import type { HttpRequest } from './world.ts';

/** The same request for the service and for the model; it may be sent again at any time. */
export interface Request {
  readonly what: string;
  readonly http: () => HttpRequest;
  readonly expect: (model: ApplicationModel, now: Now) => Expected;
  /** Sent before it, and changes nothing. */
  readonly tried?: Request;
}

const borrower = ({ document, kind, name }: Person): object => ({
  document_number: document,
  document_type: kind,
  name,
  ...(kind === 'CPF' && { birth_date: '1985-03-12' }),
  address: { zip_code: '01310100', street: 'Rua A', number: '7', city: 'Sao Paulo', state: 'SP' },
});

const scheduled = ({ price, parts }: ScheduleInput): object => ({
  acquisition_value: money(price),
  number_of_installments: parts.length,
  installments: parts.map(({ code, due, face }) => ({ code, due_date: due, face_value: money(face) })),
});

const assigned = (input: Omit<AssignInput, 'papers'>, papers: readonly SentPaper[]): object => ({
  fund_id: input.fund,
  originator_proposal_code: input.code,
  product_type: input.product,
  date_issued: input.issued,
  borrower: borrower(input.person),
  ...scheduled(input),
  backing_documents: listed(papers),
});

/** @param sent with a quote: all of its papers, or none */
const assignmentQuote = (
  input: Omit<AssignInput, 'papers'>,
  papers: readonly SentPaper[],
  sent: readonly SentPaper[],
): Request => ({
  what: `assign ${input.code}, dry`,
  http: () => ({
    method: 'POST',
    path: '/loan',
    body: multipart('loan_data', { ...assigned(input, papers), dry_run: true }, uploads(sent)),
  }),
  expect: (model) => {
    const quote = model.quoteAssignment(input);
    const { body } = quote;
    return { ...quote, ...(body && { body: { ...body, files_checked: sent.length > 0 } }) };
  },
});

/** @param tried what goes before it as a quote: nothing, its data alone, or its papers too */
export const assignRequest = (
  input: Omit<AssignInput, 'papers'>,
  papers: readonly SentPaper[],
  tried: 'not' | 'alone' | 'with papers',
): Request => ({
  what: `assign ${input.code}`,
  http: () => ({
    method: 'POST',
    path: '/loan',
    body: multipart('loan_data', assigned(input, papers), uploads(papers)),
  }),
  expect: (model, now) => model.assign({ ...input, papers: known(papers) }, now),
  ...(tried !== 'not' && { tried: assignmentQuote(input, papers, tried === 'alone' ? [] : papers) }),
});

const json = (what: string, path: string, body: object, expect: Request['expect']): Request => ({
  what,
  http: () => ({ method: path === '/loan/renegotiate' ? 'PATCH' : 'POST', path, body }),
  expect,
});

const settled = (input: SettleInput): object => ({
  originator_proposal_code: input.code,
  installment_code: input.part,
  settled_at: input.at,
  settled_value: money(input.value),
  payment_method: input.method,
  idempotency_key: input.key,
});

export const settleRequest = (input: SettleInput): Request =>
  json(
    `settle ${input.code} ${input.part} ${input.value}`,
    '/installment/settle',
    settled(input),
    (model, now) => model.settle(input, now),
  );

/** Each line is answered as if it came alone, one after another. */
export const settleBatch = (lines: readonly SettleInput[]): Request =>
  json(
    `settle in a batch ${lines.map(({ code, part, value }) => `${code} ${part} ${value}`).join(', ')}`,
    '/installment/settle/batch',
    { settlements: lines.map(settled) },
    (model, now) => ({
      status: 200,
      body: {
        results: lines.map((line, i) => {
          const { status, error, body = { error_code: error }, replayed = false } = model.settle(line, now);
          return { line: i + 1, status, replayed, body };
        }),
      },
    }),
  );

export const prepayRequest = (input: PrepayInput): Request =>
  json(
    `prepay ${input.code} ${input.value} on ${input.at}${input.dry ? ', dry' : ''}`,
    '/installment/prepayment',
    {
      originator_proposal_code: input.code,
      prepayment_value: money(input.value),
      prepayment_date: input.at,
      payment_method: input.method,
      idempotency_key: input.key,
      ...(input.dry && { dry_run: true }),
    },
    (model, now) => model.prepay(input, now),
  );

export const repurchaseRequest = (input: RepurchaseInput): Request =>
  json(
    `${input.reason} ${input.code} on ${input.effective}${input.dry ? ', dry' : ''}`,
    '/loan/repurchase',
    {
      originator_proposal_code: input.code,
      reason: input.reason,
      effective_date: input.effective,
      ...(input.detail !== undefined && { reason_detail: input.detail }),
      ...(input.value !== undefined && { repurchase_value: money(input.value) }),
      idempotency_key: input.key,
      ...(input.dry && { dry_run: true }),
    },
    (model, now) => model.repurchase(input, now),
  );

export const renegotiateRequest = (input: RenegotiateInput): Request =>
  json(
    `renegotiate ${input.originals.join()} as ${input.next}`,
    '/loan/renegotiate',
    {
      original_proposal_code: input.originals[0],
      new_proposal: { originator_proposal_code: input.next, ...scheduled(input) },
      effective_date: input.effective,
    },
    (model, now) => model.renegotiate(input, now),
  );

/** With documents of its own. */
export const renegotiateForm = (
  input: Omit<RenegotiateInput, 'papers'>,
  papers: readonly SentPaper[],
): Request => ({
  what: `renegotiate ${input.originals.join()} as ${input.next}, with documents`,
  http: () => ({
    method: 'PATCH',
    path: '/loan/renegotiate',
    body: multipart(
      'renegotiation_data',
      {
        original_proposal_codes: input.originals,
        effective_date: input.effective,
        new_loan: {
          originator_proposal_code: input.next,
          ...scheduled(input),
          ...(input.person && { borrower: borrower(input.person) }),
          backing_documents: listed(papers),
        },
      },
      uploads(papers),
    ),
  }),
  expect: (model, now) => model.renegotiate({ ...input, papers: known(papers) }, now),
});

export const filesRequest = (code: string, papers: readonly SentPaper[]): Request => ({
  what: `add ${papers.map(({ value }) => value).join()} to ${code}`,
  http: () => ({
    method: 'POST',
    path: '/loan/files',
    body: multipart(
      'files_data',
      { originator_proposal_code: code, documents: listed(papers) },
      uploads(papers),
    ),
  }),
  expect: (model, now) => model.addPapers(code, known(papers), now),
});
