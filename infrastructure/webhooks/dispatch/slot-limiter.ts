import type { DispatchSettings } from './dispatch-settings.ts';
import type { Endpoint } from './endpoints.ts';

type Limits = Pick<DispatchSettings, 'slots' | 'slotsPerEndpoint'>;

/** Who may send now. A lane whose result is being stored gives up its slot, and waits behind the others when it goes on. */
export class SlotLimiter {
  readonly #limits: Limits;
  readonly #waiting = new Map<Endpoint, (() => void)[]>();
  #sending = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** Every `take` that resolved needs one `free`. */
  async take(endpoint: Endpoint): Promise<void> {
    if (this.#mayStart(endpoint)) return this.#start(endpoint);
    await new Promise<void>((resolve) => {
      const queue = this.#waiting.get(endpoint) ?? [];
      queue.push(resolve);
      this.#waiting.set(endpoint, queue);
    });
  }

  free(endpoint: Endpoint): void {
    this.#sending -= 1;
    endpoint.sending -= 1;
    while (this.#next());
  }

  #mayStart(endpoint: Endpoint): boolean {
    const { slots, slotsPerEndpoint } = this.#limits;
    return this.#sending < endpoint.shareOf(slots, endpoint.sending) && endpoint.sending < slotsPerEndpoint;
  }

  #start(endpoint: Endpoint): void {
    this.#sending += 1;
    endpoint.sending += 1;
  }

  /** Endpoints take turns: one that always has a lane waiting must not keep its slots from the others. False when none may start. */
  #next(): boolean {
    for (const [endpoint, queue] of this.#waiting) {
      if (!this.#mayStart(endpoint)) continue;
      this.#start(endpoint);
      queue.shift()!();
      this.#waiting.delete(endpoint);
      if (queue.length > 0) this.#waiting.set(endpoint, queue);
      return true;
    }
    return false;
  }
}
