import { loanRequest, settlement, smallPdf } from '../support/api-client.ts';
import type { ApiClient } from '../support/api-client.ts';
import type { ServiceProcess } from '../support/service-process.ts';
import type { Bodies } from './generator.ts';
import { load } from './load.ts';
import type { Load, Request } from './load.ts';

const INSTALLMENTS = 480;
const BOUNDARY = 'receivables-bench-boundary';

const part = (head: string, content: string | Uint8Array): Buffer =>
  Buffer.concat([Buffer.from(`--${BOUNDARY}\r\n${head}\r\n\r\n`), Buffer.from(content), Buffer.from('\r\n')]);

/** Operations of one client, and the settlements that are still open in them. */
export class SettlementWorld {
  readonly api: ApiClient;
  readonly authorization: string;
  readonly #baseUrl: string;
  readonly #open: string[] = [];
  #operations = 0;
  #assigned = 0;
  #hook = '';

  private constructor(baseUrl: string, api: ApiClient, authorization: string) {
    this.#baseUrl = baseUrl;
    this.api = api;
    this.authorization = authorization;
  }

  static async open(service: ServiceProcess, fund: string): Promise<SettlementWorld> {
    const api = await service.client(fund);
    return new SettlementWorld(service.baseUrl, api, `Bearer ${await api.token()}`);
  }

  readonly assignment = (code: string, count: number): Request => ({
    path: '/loan',
    headers: {
      authorization: this.authorization,
      'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
    },
    body: Buffer.concat([
      part(
        'Content-Disposition: form-data; name="loan_data"',
        JSON.stringify(loanRequest(this.api.fund, code, count)),
      ),
      part(
        'Content-Disposition: form-data; name="files"; filename="ccb.pdf"\r\nContent-Type: application/pdf',
        smallPdf(),
      ),
      Buffer.from(`--${BOUNDARY}--\r\n`),
    ]),
  });

  /** As fast as it goes over eight connections. */
  assign(installments: number, seconds: number): Promise<Load> {
    const next = (): Request => this.assignment(`B-${installments}-${++this.#assigned}`, installments);
    return load(this.#baseUrl, next, { connections: 8, seconds, status: 201 });
  }

  /** So many settlements of installments that are open, spread over operations. */
  async take(count: number): Promise<Bodies> {
    if (this.#open.length < count) await this.#prepare(count - this.#open.length);
    const headers = { authorization: this.authorization, 'content-type': 'application/json' };
    return {
      baseUrl: this.#baseUrl,
      path: '/installment/settle',
      headers,
      bodies: this.#open.splice(0, count),
    };
  }

  /** What was not sent can be taken again. */
  giveBack({ bodies }: Bodies, used: number): void {
    this.#open.unshift(...bodies.slice(used));
  }

  async subscribe(url: string): Promise<void> {
    const { status, body } = await this.api.call('POST', '/webhook', {
      url,
      events: ['installment_settled'],
    });
    if (status !== 200) throw new Error(`webhook: ${status}`);
    this.#hook = body.webhook_id as string;
  }

  async unsubscribe(): Promise<void> {
    await this.api.call('DELETE', `/webhook/${this.#hook}`);
  }

  async #prepare(count: number): Promise<void> {
    const codes = Array.from({ length: Math.ceil(count / INSTALLMENTS) }, () => `S-${++this.#operations}`);
    const queue = [...codes];
    const next = (): Request | undefined => {
      const code = queue.pop();
      return code === undefined ? undefined : this.assignment(code, INSTALLMENTS);
    };
    await load(this.#baseUrl, next, { connections: 8, seconds: 600, status: 201 });
    for (const code of codes) await this.api.untilStatus(code, 'active', 120_000);
    for (let i = 1; i <= INSTALLMENTS; i++)
      for (const code of codes)
        this.#open.push(JSON.stringify(settlement(code, String(i).padStart(3, '0'), 950)));
  }
}
