import { expect } from '@jest/globals';
import type { ApiClient } from './api-client.ts';
import { eventsOfWholeLife } from './insistent-writers.ts';
import type { MoodyReceiver } from './moody-receiver.ts';
import type { ServiceProcess } from './service-process.ts';
import { within } from './within.ts';

/** Of an operation that was disbursed, and not paid yet. */
const BEFORE_PAYMENTS = 4;
const MOST_EXPLAINED = 3;
const MOST_LINES = 40;
/** Lines of a log that say what became of events. */
const TELLING = /late|overtaken|dead.letter|partition|exhausted|gave up/i;

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

  /** Resolves with the milliseconds until every webhook has come. @throws Error that names what has not, and what a process says of itself */
  async untilTold(ms: number, node: Pick<ServiceProcess, 'receivables' | 'output'>): Promise<number> {
    try {
      return await within('all webhooks arrive', ms, () => this.#missing().length === 0);
    } catch (error) {
      const missing = this.#missing();
      const asked = [
        ['status'],
        ['dead-letter', 'list'],
        ...missing.slice(0, MOST_EXPLAINED).map((one) => ['events', '--code', one.split(' ')[0]!]),
      ];
      const found: string[] = [];
      for (const command of asked)
        found.push(`${command.join(' ')}: ${await node.receivables(...command).catch(String)}`);
      const said = node.output.split('\n').filter((line) => TELLING.test(line));
      const explained = [missing.join('; '), ...found, ...said.slice(-MOST_LINES), node.output.slice(-5_000)];
      throw new Error(explained.join('\n'), { cause: error });
    }
  }

  /** Operations of which not everything was told, with what was. */
  #missing(): readonly string[] {
    const told = this.#receiver.eventsByCode();
    const lacking = (codes: readonly string[], count: number): readonly string[] =>
      codes
        .filter((code) => (told.get(code)?.length ?? 0) < count)
        .map((code) => `${code} told ${told.get(code)?.join() ?? 'nothing'}`);
    return [...lacking(this.#finished, this.#life.length), ...lacking(this.#active, BEFORE_PAYMENTS)];
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
      expect((await apis[i % apis.length]!.readable(code)).body).toMatchObject(settled);
  }
}
