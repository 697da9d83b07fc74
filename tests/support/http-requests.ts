import { FUND } from './http-fakes.ts';

type Body = Record<string, ReturnType<typeof JSON.parse>>;

/** A creation request that every rule accepts; fresh on each call, so that a test may break it. */
export const validLoanData = (): Body => ({
  fund_id: FUND,
  originator_proposal_code: 'OP-1',
  product_type: 'financing',
  acquisition_value: 1800,
  number_of_installments: 2,
  date_issued: '2026-01-15',
  borrower: {
    document_number: '52998224725',
    document_type: 'CPF',
    name: 'Maria da Silva',
    birth_date: '1990-05-20',
    email: 'maria@example.com',
    phone: '+5511999990000',
    address: {
      zip_code: '01310100',
      street: 'Avenida Paulista',
      number: '1000',
      neighborhood: 'Bela Vista',
      city: 'Sao Paulo',
      state: 'SP',
    },
  },
  installments: [
    { code: '001', due_date: '2026-02-15', face_value: 950 },
    { code: '002', due_date: '2026-03-15', face_value: 950.5 },
  ],
  backing_documents: [{ type: 'ccb', value: 'ccb.pdf' }],
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
