import type { LogPosition } from '../ports/event-store.ts';
import type { Logger } from '../ports/logger.ts';
import { RefusedWritesError } from '../ports/read-models.ts';
import type { Done, Followed, Place, Processor } from './processor.ts';
import { Steps } from './steps.ts';
import type { Step } from './steps.ts';

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
