import { exampleLoanData } from '../../infrastructure/http/resources/assign-loan.ts';
import { FUND } from './http-fakes.ts';

type Body = Record<string, ReturnType<typeof JSON.parse>>;

/** The described creation request, with a code and a schedule of the tests; fresh on each call, so that a test may break it. */
export const validLoanData = (): Body => ({
  ...structuredClone(exampleLoanData),
  fund_id: FUND,
  originator_proposal_code: 'OP-1',
  installments: [
    { code: '001', due_date: '2026-02-15', face_value: 950 },
    { code: '002', due_date: '2026-03-15', face_value: 950.5 },
  ],
});

export const validSettlement = (): Body => ({
  originator_proposal_code: 'OP-1',
  installment_code: '001',
  settled_at: '2026-02-15',
  settled_value: 950,
  payment_method: 'pix',
  idempotency_key: 'OP-1-001',
});

export interface FilePart {
  readonly name: string;
  readonly content?: string | Uint8Array;
  /** Name of the part; `files` by default. */
  readonly part?: string;
}

export const loanForm = (data: unknown, files: readonly FilePart[] = [{ name: 'ccb.pdf' }]): FormData => {
  const form = new FormData();
  if (data !== undefined) form.append('loan_data', typeof data === 'string' ? data : JSON.stringify(data));
  for (const { name, content = '%PDF-1.4', part = 'files' } of files) {
    form.append(part, new Blob([content], { type: 'application/pdf' }), name);
  }
  return form;
};

/** Sets `installments[0].code` or `borrower.address.state` of a body; `undefined` removes the field. */
export const withField = (body: Body, path: string, value: unknown): Body => {
  const segments = path.split(/[.[\]]+/).filter((segment) => segment !== '');
  const last = segments.pop() ?? '';
  const target = segments.reduce<Body>((node, segment) => node[segment], body);
  if (value === undefined) delete target[last];
  else target[last] = value;
  return body;
};
