import { pause } from '../../infrastructure/support/time.ts';
import { loanRequest } from './api-client.ts';
import type { ApiClient, ApiResponse } from './api-client.ts';

const PATIENCE_MS = 120_000;

/** What is told of an operation that such a writer has finished, in this order. */
export const eventsOfWholeLife = (installments: number): readonly string[] => [
  'loan_received',
  'loan_approved',
  'loan_term_signed',
  'disbursement_completed',
  ...Array.from({ length: installments }, () => 'installment_settled'),
  'loan_fully_settled',
];

type Send = (api: ApiClient) => Promise<ApiResponse>;

interface Work {
  readonly writers: number;
  /** All of them are settled. */
  readonly installments: number;
  /** Begins every code. */
  readonly prefix: string;
  /** Told of every try, and when it began (`performance.now()`); without a response when none came. */
  readonly onTry?: (api: ApiClient, response: ApiResponse | undefined, begun: number) => void;
}

/**
 * Writers that assign and settle one operation after the other, whatever becomes of the service meanwhile. Each try goes to the
 * next process of the service; some settlements go to all of them at once.
 */
export class InsistentWriters {
  readonly #apis: readonly ApiClient[];
  readonly #work: Work;
  readonly #running: Promise<unknown>;
  readonly #finished: string[] = [];
  #acknowledged = 0;
  #tries = 0;
  #done = false;
  #failed = false;
  #abandoned = false;

  constructor(apis: ApiClient | readonly ApiClient[], work: Work) {
    this.#apis = [apis].flat();
    this.#work = work;
    this.#running = Promise.all(Array.from({ length: work.writers }, (_, n) => this.#write(n)));
    this.#running.catch(() => (this.#failed = true));
  }

  get acknowledged(): number {
    return this.#acknowledged;
  }

  /** Codes of the operations that are settled as a whole. */
  get finished(): readonly string[] {
    return this.#finished;
  }

  /** Resolves after so many more acknowledged writes. @throws what ended a writer */
  async untilAcknowledged(more: number): Promise<void> {
    const goal = this.#acknowledged + more;
    while (this.#acknowledged < goal && !this.#failed) await pause(5);
    if (this.#failed) await this.#running;
  }

  /** Resolves when each has finished its operation. @throws what ended a writer */
  async stop(): Promise<void> {
    this.#done = true;
    await this.#running;
  }

  /** For a test that failed: they give up. */
  abandon(): void {
    this.#done = true;
    this.#abandoned = true;
  }

  async #write(n: number): Promise<void> {
    const { prefix, installments } = this.#work;
    const fund = this.#apis[0]!.fund;
    for (let i = 0; !this.#done; i++) {
      const code = `${prefix}-${n}-${i}`;
      await this.#acknowledge((api) => api.assign(loanRequest(fund, code, installments)), 201);
      await this.#insist(
        (api) => api.loan(code),
        ({ body }) => body?.status === 'active',
      );
      for (let k = 1; k <= installments; k++) {
        const everywhere = (n + i + k) % 3 === 0;
        await this.#acknowledge((api) => api.settle(code, `00${k}`, 950), 200, everywhere);
      }
      this.#finished.push(code);
    }
  }

  async #acknowledge(send: Send, status: number, everywhere = false): Promise<void> {
    let executions = 0;
    const good = (response: ApiResponse): boolean => {
      if (response.status !== status) return false;
      if (!response.headers.has('idempotent-replayed')) executions += 1;
      return true;
    };
    await this.#insist(send, good, everywhere);
    if (executions > 1) throw new Error('the same request was executed twice');
    this.#acknowledged += 1;
  }

  /** What an integrator does: the same request again until it is answered; a refusal is a defect. */
  async #insist(send: Send, good: (response: ApiResponse) => boolean, everywhere = false): Promise<void> {
    const deadline = Date.now() + PATIENCE_MS;
    while (Date.now() < deadline && !this.#abandoned) {
      const next = this.#apis[this.#tries++ % this.#apis.length]!;
      const answers = await Promise.all(
        (everywhere ? this.#apis : [next]).map((api) => this.#try(api, send)),
      );
      const refused = answers.find((answer) => answer && answer.status >= 400 && answer.status < 500);
      if (refused) throw new Error(`refused: ${refused.status} ${JSON.stringify(refused.body)}`);
      // All of them are looked at, since each may tell of an execution.
      if (answers.filter((answer) => answer !== undefined && good(answer)).length > 0) return;
      await pause(50);
    }
    throw new Error('not answered within two minutes');
  }

  async #try(api: ApiClient, send: Send): Promise<ApiResponse | undefined> {
    const begun = performance.now();
    const response = await send(api).catch(() => undefined);
    this.#work.onTry?.(api, response, begun);
    return response;
  }
}
