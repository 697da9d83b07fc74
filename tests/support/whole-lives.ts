import { expect } from '@jest/globals';
import type { ApiClient } from './api-client.ts';
import { eventsOfWholeLife } from './insistent-writers.ts';
import type { MoodyReceiver } from './moody-receiver.ts';

/** Of an operation that was disbursed, and not paid yet. */
const BEFORE_PAYMENTS = 4;

/** What a chaos test expects in the end: operations that writers have finished, and others that only became active. */
export class WholeLives {
  readonly #receiver: MoodyReceiver;
  readonly #installments: number;
  readonly #life: readonly string[];
  readonly #finished: readonly string[];
  readonly #active: readonly string[];

  constructor(
    receiver: MoodyReceiver,
    installments: number,
    { finished, active }: { readonly finished: readonly string[]; readonly active: readonly string[] },
  ) {
    this.#receiver = receiver;
    this.#installments = installments;
    this.#life = eventsOfWholeLife(installments);
    this.#finished = finished;
    this.#active = active;
  }

  /** Whether every webhook has come. */
  get told(): boolean {
    const told = this.#receiver.eventsByCode();
    const has = (code: string, count: number): boolean => (told.get(code)?.length ?? 0) >= count;
    return (
      this.#finished.every((code) => has(code, this.#life.length)) &&
      this.#active.every((code) => has(code, BEFORE_PAYMENTS))
    );
  }

  async expectNothingLostOrDoubled(apis: readonly ApiClient[]): Promise<void> {
    const told = this.#receiver.eventsByCode();
    const beforePayments = this.#life.slice(0, BEFORE_PAYMENTS);
    for (const code of this.#finished) expect([code, told.get(code)]).toEqual([code, this.#life]);
    for (const code of this.#active) expect([code, told.get(code)]).toEqual([code, beforePayments]);
    expect(new Set(told.keys())).toEqual(new Set([...this.#finished, ...this.#active]));
    expect(this.#receiver.contradictions).toEqual([]);
    const settled = {
      status: 'settled',
      balances: { received_value: 950 * this.#installments, open_face_value: 0 },
    };
    for (const [i, code] of this.#finished.entries())
      expect((await apis[i % apis.length]!.loan(code)).body).toMatchObject(settled);
  }
}
