import type { LogPosition } from '../ports/event-store.ts';
import type { Logger } from '../ports/logger.ts';
import { RefusedWritesError } from '../ports/read-models.ts';
import { PoisonEventError, isPoison, waitTooMany } from './processor.ts';
import type { Done, Followed, Held, HoldChange, Place, Processor } from './processor.ts';

/** Waits for others alone: it could be handled. */
class TiedToWaitingError<E extends Followed> extends PoisonEventError<E> {
  readonly streams: readonly string[];
  constructor(event: E, reason: string, streams: readonly string[]) {
    super(event, new Error(reason));
    this.streams = streams;
  }
}

/** What is to be stored of some events; without `through`, of none. */
interface Step<W, E extends Followed> extends Omit<Done<W, E>, 'to'> {
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
class Steps<W, E extends Followed> {
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

interface Gathered<W, E extends Followed> extends Done<W, E> {
  readonly writes: W[];
  readonly count: number;
}

export const named = ({ stream, revision, type, position }: Omit<Followed, 'id'>) => ({
  ...{ stream, revision: String(revision), type, position },
});

export const nothingUpTo = <W, E extends Followed>(through: LogPosition, mayWait = false): Step<W, E> => ({
  ...{ events: [], writes: [], holds: [] },
  ...{ mayWait, through },
});

export class Progress<W, E extends Followed> {
  readonly steps: Steps<W, E>;
  readonly #processor: Processor<W, E>;
  readonly #logger: Logger;
  #place: Place = 'start';
  #gathered: Gathered<W, E> | undefined;
  #unsure: Done<W, E> | undefined;
  live = false;

  constructor(processor: Processor<W, E>, logger: Logger) {
    this.#processor = processor;
    this.#logger = logger;
    this.steps = new Steps(processor);
  }

  get place(): Place {
    return this.#place;
  }

  get isGathering(): boolean {
    return this.#gathered !== undefined;
  }

  async load(): Promise<boolean> {
    const { store, watch } = this.#processor;
    const [known, unsure] = [this.#place, this.#unsure];
    const { place, held } = await store.load();
    [this.#place, this.#unsure, this.#gathered, this.live] = [place, undefined, undefined, false];
    this.steps.held = new Map(held.map((one) => [one.stream, one]));
    if (unsure && place === unsure.to) {
      this.#tell(unsure);
      return true;
    }
    if (place !== known) watch?.lost?.();
    return false;
  }

  /** Stores a step, or gathers it where it may wait. False when another process moved the place. @throws RefusedWritesError */
  async keep(step: Step<W, E>, to: Place): Promise<boolean> {
    const { gather } = this.#processor;
    const before = this.#gathered;
    const count = (before?.count ?? 0) + Math.max(1, step.events.length);
    const writes = before?.writes ?? [];
    for (const write of step.writes) writes.push(write);
    const events = step.mayWait ? [] : step.events;
    this.#gathered = { events, writes, holds: step.holds, to, count };
    return step.mayWait && gather && count < gather.events ? true : this.flush();
  }

  async flush(): Promise<boolean> {
    const gathered = this.#gathered;
    this.#gathered = undefined;
    return gathered ? this.store(gathered) : true;
  }

  async store(done: Done<W, E>): Promise<boolean> {
    const { writes, holds, to } = done;
    const from = this.#place;
    if (to !== from) this.#unsure = done;
    try {
      const commit = { from, to, writes, holds, live: this.live };
      if (!(await this.#processor.store.commit(commit))) return false;
    } catch (error) {
      if (error instanceof RefusedWritesError) this.#unsure = undefined;
      throw error;
    }
    [this.#place, this.#unsure] = [to, undefined];
    this.#tell(done);
    return true;
  }

  #tell(done: Done<W, E>): void {
    const { fields, holding, watch } = this.#processor;
    watch?.committed(done);
    const all = done.holds.flatMap((one) => (one.kind === 'hold' ? [one] : []));
    for (const { hold, waiting } of all) {
      if (waiting === 0) continue;
      const along = all.flatMap(({ hold: { stream, position }, waiting: own }) =>
        own === 0 && position === hold.position ? [stream] : [],
      );
      const event = named({ ...hold, type: hold.eventType });
      this.#logger.error(
        { ...fields, event, error: hold.reason, ...(along.length > 0 && { along }) },
        `${holding?.says(hold.stream)}: \`receivables quarantine list\` shows it`,
      );
    }
  }
}
