export interface ClientCredentials {
  readonly client_id: string;
  readonly client_secret: string;
  readonly application_id: string;
  readonly fund_ids: readonly string[];
}

export interface ApiResponse {
  readonly status: number;
  readonly headers: Headers;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- answers are checked field by field where they are used
  readonly body: any;
}

/** Its files were not looked at, because others were before them for too long. */
export const filesWait = ({ status, body }: Pick<ApiResponse, 'status' | 'body'>): boolean =>
  status === 429 && /files wait to be checked/.test(body.message);

/** An integrator's small client: holds a token and sends what the tests want to say. */
export class ApiClient {
  readonly #baseUrl: string;
  readonly #credentials: ClientCredentials;
  #token: string | undefined;

  constructor(baseUrl: string, credentials: ClientCredentials) {
    this.#baseUrl = baseUrl;
    this.#credentials = credentials;
  }

  get fund(): string {
    return this.#credentials.fund_ids[0]!;
  }

  /** The same client, with the token that it has, at another address. */
  at(baseUrl: string): ApiClient {
    const moved = new ApiClient(baseUrl, this.#credentials);
    moved.#token = this.#token;
    return moved;
  }

  /** The next request fetches another one. */
  forgetToken(): void {
    this.#token = undefined;
  }

  async token(): Promise<string> {
    if (this.#token !== undefined) return this.#token;
    const { client_id, client_secret } = this.#credentials;
    const body = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret });
    const response = await fetch(`${this.#baseUrl}/token`, { method: 'POST', body });
    if (!response.ok) throw new Error(`token: ${response.status} ${await response.text()}`);
    const { access_token } = (await response.json()) as { access_token: string };
    return (this.#token = access_token);
  }

  async call(
    method: string,
    path: string,
    body?: object | FormData,
    more: Readonly<Record<string, string>> = {},
  ): Promise<ApiResponse> {
    const token = await this.token();
    const headers: Record<string, string> = { ...more, authorization: `Bearer ${token}` };
    const json = body !== undefined && !(body instanceof FormData);
    if (json) headers['content-type'] = 'application/json';
    const response = await fetch(this.#baseUrl + path, {
      method,
      headers,
      ...(body !== undefined && { body: json ? JSON.stringify(body) : body }),
    });
    const text = await response.text();
    if (response.status === 401 && text.includes('token_expired')) {
      // Others may have fetched another one meanwhile.
      if (this.#token === token) this.#token = undefined;
      return this.call(method, path, body, more);
    }
    return {
      status: response.status,
      headers: response.headers,
      body: text === '' ? undefined : JSON.parse(text),
    };
  }

  assignOnce(loan: object, file = smallPdf()): Promise<ApiResponse> {
    return this.call('POST', '/loan', assignmentForm(loan, file));
  }

  /** Again while the machine is so busy that no file is looked at in time; for up to a minute. */
  async assign(loan: object, file = smallPdf()): Promise<ApiResponse> {
    for (const deadline = Date.now() + 60_000; ;) {
      const response = await this.assignOnce(loan, file);
      if (!filesWait(response) || Date.now() > deadline) return response;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  settle(code: string, installment: string, value: number, extra: object = {}): Promise<ApiResponse> {
    return this.call('POST', '/installment/settle', settlement(code, installment, value, extra));
  }

  loan(code: string): Promise<ApiResponse> {
    return this.call('GET', `/loan/${encodeURIComponent(code)}`);
  }

  /** Asks again while the reads are too far behind the writes to be shown, as an integrator does at 503; for up to a minute. */
  async readable(code: string): Promise<ApiResponse> {
    for (const deadline = Date.now() + 60_000; ;) {
      const response = await this.loan(code);
      if (response.status !== 503 || Date.now() > deadline) return response;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  /** Reads until the operation has this status; fails after the deadline. */
  async untilStatus(code: string, status: string, ms = 60_000): Promise<ApiResponse> {
    const deadline = Date.now() + ms;
    for (;;) {
      const response = await this.loan(code);
      if (response.body?.status === status) return response;
      if (Date.now() > deadline)
        throw new Error(`${code} is ${JSON.stringify(response.body)}, not ${status}`);
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
  }
}

export const settlement = (code: string, installment: string, value: number, extra: object = {}): object => ({
  originator_proposal_code: code,
  installment_code: installment,
  settled_at: '2026-06-15',
  settled_value: value,
  payment_method: 'pix',
  idempotency_key: `${code}-${installment}`,
  ...extra,
});

export const multipart = (
  part: string,
  data: object,
  files: readonly { readonly name: string; readonly content: Uint8Array }[],
): FormData => {
  const form = new FormData();
  form.append(part, JSON.stringify(data));
  for (const { name, content } of files) form.append('files', new Blob([new Uint8Array(content)]), name);
  return form;
};

/** The form of a creation request with its one document. */
export const assignmentForm = (loan: object, file = smallPdf()): FormData =>
  multipart('loan_data', loan, [{ name: 'ccb.pdf', content: file }]);

/** A creation request: `count` monthly installments of 950.00, the first due on 2026-02-15. */
export const loanRequest = (fund: string, code: string, count = 12, overrides: object = {}): object => ({
  fund_id: fund,
  originator_proposal_code: code,
  product_type: 'financing',
  acquisition_value: Math.round(950 * count * 0.88 * 100) / 100,
  number_of_installments: count,
  date_issued: '2026-01-15',
  borrower: {
    document_number: '52998224725',
    document_type: 'CPF',
    name: 'Joana Prado',
    birth_date: '1985-03-12',
    email: 'joana@example.com',
    phone: '+5511988887777',
    address: {
      zip_code: '01310100',
      street: 'Avenida Paulista',
      number: '900',
      neighborhood: 'Bela Vista',
      city: 'Sao Paulo',
      state: 'SP',
    },
  },
  installments: Array.from({ length: count }, (_, i) => ({
    code: String(i + 1).padStart(3, '0'),
    due_date: new Date(Date.UTC(2026, i + 1, 15)).toISOString().slice(0, 10),
    face_value: 950,
  })),
  backing_documents: [{ type: 'ccb', value: 'ccb.pdf' }],
  ...overrides,
});

/** A one-page PDF with a right cross-reference table. */
export const smallPdf = (text = 'Cedula de credito bancario'): Uint8Array => {
  const stream = `BT /F1 12 Tf 72 720 Td (${text}) Tj ET`;
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ];
  let body = '%PDF-1.4\n';
  const offsets = objects.map((object, i) => {
    const offset = body.length;
    body += `${i + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const end = `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${body.length}\n%%EOF\n`;
  return Buffer.from(`${body}xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}${end}`, 'latin1');
};
