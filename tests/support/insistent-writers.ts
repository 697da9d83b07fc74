import { loanRequest } from './api-client.ts';
import type { ApiClient, ApiResponse } from './api-client.ts';

const PATIENCE_MS = 60_000;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** What an integrator does: the same request again until it is answered; a refusal is a defect. */
const insist = async (
  send: () => Promise<ApiResponse>,
  good: (response: ApiResponse) => boolean,
): Promise<void> => {
  const deadline = Date.now() + PATIENCE_MS;
  while (Date.now() < deadline) {
    const response = await send().catch(() => undefined);
    if (response && good(response)) return;
    if (response && response.status >= 400 && response.status < 500)
      throw new Error(`refused: ${response.status} ${JSON.stringify(response.body)}`);
    await pause(50);
  }
  throw new Error('not answered within a minute');
};

interface Work {
  readonly writers: number;
  /** All of them are settled. */
  readonly installments: number;
  /** Begins every code. */
  readonly prefix: string;
}

/** Writers that assign and settle one operation after the other, whatever becomes of the service meanwhile. */
export class InsistentWriters {
  readonly #api: ApiClient;
  readonly #work: Work;
  readonly #running: Promise<unknown>;
  readonly #finished: string[] = [];
  #acknowledged = 0;
  #done = false;
  #failed = false;

  constructor(api: ApiClient, work: Work) {
    this.#api = api;
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

  async #write(n: number): Promise<void> {
    const { prefix, installments } = this.#work;
    const api = this.#api;
    for (let i = 0; !this.#done; i++) {
      const code = `${prefix}-${n}-${i}`;
      await insist(
        () => api.assign(loanRequest(api.fund, code, installments)),
        ({ status }) => status === 201,
      );
      this.#acknowledged += 1;
      await insist(
        () => api.loan(code),
        ({ body }) => body?.status === 'active',
      );
      for (let k = 1; k <= installments; k++) {
        await insist(
          () => api.settle(code, `00${k}`, 950),
          ({ status }) => status === 200,
        );
        this.#acknowledged += 1;
      }
      this.#finished.push(code);
    }
  }
}
