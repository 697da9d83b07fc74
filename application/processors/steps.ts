import type { LogPosition } from '../ports/event-store.ts';
import { PoisonEventError, TiedToWaitingError, isPoison, waitTooMany } from './processor.ts';
import type { Done, Followed, Held, HoldChange, Processor } from './processor.ts';

/** What is to be stored of some events; without `through`, of none. */
export interface Step<W, E extends Followed> extends Omit<Done<W, E>, 'to'> {
  readonly mayWait: boolean;
  readonly through: LogPosition | undefined;
  readonly poison?: PoisonEventError<E>;
}

const haltedBy = <E extends Followed>({ event, reason }: PoisonEventError<E>): PoisonEventError<E> =>
  new PoisonEventError(
    event,
    new Error(
      `${reason}; so many wait in quarantine already that this program is taken to be wrong: deploy one that takes the event`,
    ),
  );

/** Makes steps of events. Streams that an event puts into quarantine are held at once, though stored only with the step. */
export class Steps<W, E extends Followed> {
  readonly #processor: Processor<W, E>;
  held = new Map<string, Held>();
  /** Places of what was put aside and lies before the place that is stored: it is not put aside once more with each try. */
  readonly aside = new Set<LogPosition>();

  constructor(processor: Processor<W, E>) {
    this.#processor = processor;
  }

  async of(events: readonly E[], signal: AbortSignal): Promise<Step<W, E>> {
    const { holding } = this.#processor;
    if (this.held.size > 0 && holding?.ties) return this.#oneByOne(events, signal);
    const free = this.held.size + this.aside.size === 0 ? events : events.filter((one) => this.#isFree(one));
    const through = events.at(-1)?.position;
    const none = { writes: [], mayWait: false };
    try {
      const { writes, mayWait = false } = free.length > 0 ? await this.#processor.handle(free, signal) : none;
      return { events: free, writes, holds: [], mayWait, through };
    } catch (error) {
      if (!isPoison<E>(error)) throw error;
      if (await this.putAside(error)) return this.of(events, signal);
      if (!holding) throw error;
      return this.#oneByOne(events, signal);
    }
  }

  /** False where that is not what becomes of it. */
  async putAside({ event, reason }: PoisonEventError<E>): Promise<boolean> {
    const { putAside } = this.#processor;
    if (!putAside || this.aside.has(event.position)) return false;
    await putAside(event, reason);
    this.aside.add(event.position);
    return true;
  }

  #isFree({ stream, position }: E): boolean {
    return !this.held.has(stream) && !this.aside.has(position);
  }

  /** What is stored instead of an event that cannot be handled. @throws PoisonEventError where its stream cannot wait */
  instead(poison: PoisonEventError<E>, writes: readonly W[]): readonly HoldChange[] {
    const { holding } = this.#processor;
    const { event, reason } = poison;
    const { stream, revision, type: eventType, position } = event;
    if (!holding?.mayWait(stream) || this.held.has(stream)) throw poison;
    if (waitTooMany(this.held.keys(), holding.ownerOf)) throw haltedBy(poison);
    const named = holding.ties?.along(event, writes) ?? [];
    const along = [...new Set(named)].filter((one) => !this.held.has(one));
    const reasons = poison instanceof TiedToWaitingError ? poison.streams : [];
    // What is known here may be released meanwhile: then nothing of this is stored, and the place is read again.
    const still = [...new Set([...reasons, ...named])].filter((one) => this.held.has(one));
    const hold = { stream, revision, eventType, reason, position };
    for (const one of [stream, ...along]) this.held.set(one, { stream: one, revision });
    return [
      ...still.map((one): HoldChange => ({ kind: 'count', stream: one, by: 0 })),
      { kind: 'hold', hold, waiting: 1 },
      ...along.map((one): HoldChange => {
        const with_ = { ...hold, stream: one, reason: `waits with ${stream}: ${reason}` };
        return { kind: 'hold', hold: with_, waiting: 0 };
      }),
    ];
  }

  async #oneByOne(events: readonly E[], signal: AbortSignal): Promise<Step<W, E>> {
    const [done, all, holds]: [E[], W[], HoldChange[]] = [[], [], []];
    let through: LogPosition | undefined;
    const step = (): Step<W, E> => ({ events: done, writes: all, holds, mayWait: false, through });
    for (const event of events) {
      let writes: readonly W[] = [];
      try {
        if (this.held.has(event.stream)) holds.push({ kind: 'count', stream: event.stream, by: 1 });
        else {
          this.#refuseTied(event);
          ({ writes } = await this.#processor.handle([event], signal));
          this.#refuseTied(event, writes);
          all.push(...writes);
          done.push(event);
        }
      } catch (error) {
        if (!isPoison<E>(error)) throw error;
        try {
          holds.push(...this.instead(error, writes));
        } catch (refused) {
          return { ...step(), poison: isPoison<E>(refused) ? refused : error };
        }
      }
      through = event.position;
    }
    return step();
  }

  #refuseTied(event: E, writes?: readonly W[]): void {
    if (this.held.size === 0) return;
    const tied = this.#processor.holding?.ties?.waitsFor(event, writes, this.held);
    if (tied) throw new TiedToWaitingError(event, tied.reason, tied.streams);
  }
}
