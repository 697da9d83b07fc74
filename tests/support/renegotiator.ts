import { loanRequest, multipart, smallPdf } from './api-client.ts';
import type { ApiClient, ApiResponse } from './api-client.ts';
import { within } from './within.ts';

const EFFECTIVE_DATE = '2026-06-20';
/** A read that meets a fail-over is asked again for so long. */
const READABLE_MS = 60_000;

const proposal = (code: string) => ({
  originator_proposal_code: code,
  number_of_installments: 1,
  acquisition_value: 4000,
  installments: [{ code: '1', due_date: '2099-08-20', face_value: 4200 }],
});

/** An integrator that replaces operations by others. */
export class Renegotiator {
  readonly api: ApiClient;

  constructor(api: ApiClient) {
    this.api = api;
  }

  /** @throws Error for one that is not taken, or not active in time */
  async activate(...codes: readonly string[]): Promise<void> {
    const { api } = this;
    for (const code of codes) {
      const { status } = await api.assign(loanRequest(api.fund, code, 3));
      if (status !== 201) throw new Error(`${code}: ${status}`);
    }
    for (const code of codes) await api.untilStatus(code, 'active');
  }

  replace(original: string, code: string, more: object = {}): Promise<ApiResponse> {
    return this.api.call('PATCH', '/loan/renegotiate', {
      original_proposal_code: original,
      effective_date: EFFECTIVE_DATE,
      new_proposal: proposal(code),
      ...more,
    });
  }

  replaceAll(originals: readonly string[], code: string, more: object = {}): Promise<ApiResponse> {
    const backing_documents = [{ type: 'renegotiation_document', value: 'debt.pdf' }];
    const new_loan = { ...proposal(code), backing_documents };
    const data = {
      original_proposal_codes: originals,
      effective_date: EFFECTIVE_DATE,
      new_loan,
      ...more,
    };
    const files = [{ name: 'debt.pdf', content: smallPdf('debt') }];
    return this.api.call('PATCH', '/loan/renegotiate', multipart('renegotiation_data', data, files));
  }

  /** `none` for a code that nothing has; waits while nothing can be read. */
  async statusOf(code: string): Promise<string> {
    let seen = '';
    await within(`${code} can be read`, READABLE_MS, async () => {
      const { status, body } = await this.api.loan(code);
      seen = status === 404 ? 'none' : body.status;
      return status === 200 || status === 404;
    });
    return seen;
  }

  /** A reader that sees one side changed sees the other side changed, whichever of them is read first. */
  watch(originals: readonly string[], code: string) {
    const halves: string[] = [];
    let watching = true;
    const look = async (): Promise<void> => {
      while (watching) for (const original of originals) halves.push(...(await this.#half(original, code)));
    };
    const done = look();
    return {
      halves,
      stop: async (): Promise<void> => {
        watching = false;
        await done;
      },
    };
  }

  async #half(original: string, code: string): Promise<readonly string[]> {
    const before = await this.statusOf(original);
    const next = await this.statusOf(code);
    const after = await this.statusOf(original);
    const halves: string[] = [];
    if (before === 'renegotiated' && next === 'none')
      halves.push(`${original} is gone and ${code} is not there`);
    if (next !== 'none' && after === 'active') halves.push(`${code} is there and ${original} still active`);
    return halves;
  }
}
