import type { AppendResult, EventStore, RecordedEvent } from '../../../application/ports/event-store.ts';
import { ConcurrencyError, OutcomeUnknownError } from '../../../application/ports/event-store.ts';
import { GuardedStore } from '../../support/faulty-event-store.ts';
import { InMemoryEventStore } from '../../support/in-memory-event-store.ts';
import type { Random } from '../../support/random.ts';
import type { Scheduler } from './scheduler.ts';

/** What the store promises and nothing beyond: ids only make the same append at the same place one, not elsewhere. */
export class SimulatedStore extends InMemoryEventStore {
  readonly #unfencedAborts: boolean;

  constructor(unfencedAborts: boolean) {
    super();
    this.#unfencedAborts = unfencedAborts;
  }

  get events(): readonly RecordedEvent[] {
    return this.log;
  }

  override async append(
    ...[stream, expected, events, claim]: Parameters<EventStore['append']>
  ): Promise<AppendResult> {
    try {
      return await super.append(stream, expected, events, claim);
    } catch (error) {
      const isAbort = events[0]?.type === 'renegotiation.aborted.v1';
      if (!this.#unfencedAborts || !isAbort || !(error instanceof ConcurrencyError)) throw error;
      return super.append(stream, error.actual, events, claim);
    }
  }

  protected override checkIds(): void {
    return;
  }
}

export interface Troubles {
  /** Probabilities for each append. */
  readonly lost: number;
  readonly answerLost: number;
  readonly deathBefore: number;
  readonly deathAfter: number;
}

interface World {
  readonly store: EventStore;
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly troubles: Troubles;
}

const never = <T>(): Promise<T> => new Promise<T>(() => undefined);

/** The store as one process sees it over a bad connection, until the process dies. */
export class StoreOfProcess extends GuardedStore {
  readonly #world: World;
  readonly #process: number;

  constructor(world: World, process: number) {
    super(world.store);
    this.#world = world;
    this.#process = process;
  }

  override append(...append: Parameters<EventStore['append']>): Promise<AppendResult> {
    const { random, troubles } = this.#world;
    return this.pass(async () => {
      const fate = random.next();
      let limit = troubles.lost;
      if (fate < limit) throw new OutcomeUnknownError('lost on the way there');
      if (fate < (limit += troubles.deathBefore)) return this.#die();
      const result = await this.inner.append(...append);
      if (fate < (limit += troubles.answerLost)) throw new OutcomeUnknownError('lost on the way back');
      if (fate < limit + troubles.deathAfter) return this.#die();
      return result;
    });
  }

  protected async pass<T>(act: () => Promise<T>): Promise<T> {
    const { scheduler } = this.#world;
    const answer = await scheduler.turn(this.#process, act);
    // It may have died while the answer was on its way.
    return scheduler.isDead(this.#process) ? never() : answer;
  }

  #die<T>(): Promise<T> {
    this.#world.scheduler.kill(this.#process);
    return never();
  }
}
