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

  get sending(): number {
    return this.#sending;
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
    this.#next(endpoint);
    // The slot may be one that another endpoint's lanes wait for.
    for (const other of this.#waiting.keys()) if (!this.#next(other)) break;
  }

  #mayStart(endpoint: Endpoint): boolean {
    const { slots, slotsPerEndpoint } = this.#limits;
    return this.#sending < slots && endpoint.sending < slotsPerEndpoint;
  }

  #start(endpoint: Endpoint): void {
    this.#sending += 1;
    endpoint.sending += 1;
  }

  /** False when no slot is left. */
  #next(endpoint: Endpoint): boolean {
    const queue = this.#waiting.get(endpoint);
    while (queue && queue.length > 0 && this.#mayStart(endpoint)) {
      this.#start(endpoint);
      queue.shift()!();
    }
    if (queue?.length === 0) this.#waiting.delete(endpoint);
    return this.#sending < this.#limits.slots;
  }
}
