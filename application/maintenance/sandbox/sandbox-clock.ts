import type { CalendarDate } from '../../../domain/shared/calendar-date.ts';
import { DomainError } from '../../../domain/shared/domain-error.ts';
import type { Timestamp } from '../../../domain/shared/identifiers.ts';
import type { BusinessClock, RealClock } from '../../ports/clock.ts';
import type { Logger } from '../../ports/logger.ts';
import { businessDayOf } from '../../support/business-day.ts';
import { Outage, repeatUntilAborted } from '../../support/retry.ts';
import { changeRow } from '../../sql/compare-and-set.ts';
import type { SqlDatabase } from '../../sql/sql-database.ts';

export class MovableClock implements BusinessClock {
  readonly #realNow: () => number;
  readonly #listeners = new Set<() => void>();
  #offsetMs = 0;
  #ms = 0;
  #text = '' as Timestamp;

  /** @param realNow milliseconds since 1970 */
  constructor(realNow: () => number) {
    this.#realNow = realNow;
  }

  get offsetMs(): number {
    return this.#offsetMs;
  }

  now(): Timestamp {
    const ms = this.#realNow() + this.#offsetMs;
    // Many commands fall into one millisecond, and printing a date costs more than deciding a settlement.
    if (ms !== this.#ms) {
      this.#text = new Date(ms).toISOString() as Timestamp;
      this.#ms = ms;
    }
    return this.#text;
  }

  today(): CalendarDate {
    return businessDayOf(this.#realNow() + this.#offsetMs);
  }

  /** Of two moves that are learned in the wrong order the further one stays: this time never goes back. */
  moveTo(offsetMs: number): void {
    if (offsetMs <= this.#offsetMs) return;
    this.#offsetMs = offsetMs;
    for (const listener of [...this.#listeners]) listener();
  }

  /** Called after each move until the function that it answers is called. */
  onMoved(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}

const ID = 'sandbox';

/** One number for all processes, in milliseconds: compared and set, so that of two moves at once none is lost. */
export class SqlClockOffset {
  readonly #database: SqlDatabase;
  readonly #clock: RealClock;

  constructor(database: SqlDatabase, clock: RealClock) {
    this.#database = database;
    this.#clock = clock;
  }

  async read(): Promise<number> {
    const query = this.#database.builder.selectFrom('clock_offset').select('offset_ms').where('id', '=', ID);
    const [row] = await this.#database.read(query);
    return row?.offset_ms ?? 0;
  }

  /** Durable when it resolves to true; false when the offset is not `from` any more, and nothing changed. */
  replace(from: number, to: number): Promise<boolean> {
    return changeRow(this.#database, 'clock_offset', {
      key: { id: ID },
      from: from === 0 ? undefined : { offset_ms: from },
      to: { offset_ms: to, moved_at: this.#clock.realNow() },
    });
  }
}

interface Dependencies {
  readonly offset: Pick<SqlClockOffset, 'read' | 'replace'>;
  readonly clock: MovableClock;
  readonly realClock: RealClock;
  readonly logger: Logger;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}

export interface SandboxTime {
  readonly now: Timestamp;
  /** How far that is ahead of the real time. */
  readonly offsetMs: number;
}

/** What is asked for: a stretch of time in milliseconds, or an instant. */
export type ClockMove = { readonly advanceMs: number } | { readonly to: string };

const LOOK_EVERY_MS = 100;
/** How long a move waits before it is answered: whatever is sent after the answer meets the new time everywhere. */
const KNOWN_EVERYWHERE_MS = 300;
const MOST_YEARS_AHEAD = 10;
/** Each try lost means that another move was stored. */
const MOST_TRIES = 100;

/** The clock of a sandbox: one for all applications and processes, kept with the data, moved forward only. */
export class SandboxClock {
  readonly #deps: Dependencies;
  readonly #outage: Outage;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
    this.#outage = new Outage({ logger: dependencies.logger, what: 'sandbox clock' });
  }

  /** What is stored, which another process may have moved a moment ago. */
  async show(): Promise<SandboxTime> {
    await this.#look();
    const { clock } = this.#deps;
    return { now: clock.now(), offsetMs: clock.offsetMs };
  }

  /** Moves that are asked for at the same time add up. @throws DomainError `validation_error`: back, or too far ahead */
  async move(move: ClockMove): Promise<SandboxTime> {
    const { offset, clock, sleep } = this.#deps;
    for (let attempt = 0; attempt < MOST_TRIES; attempt++) {
      const from = await offset.read();
      const to = this.#targetOf(move, from);
      if (to !== from && !(await offset.replace(from, to))) continue;
      clock.moveTo(to);
      await sleep(KNOWN_EVERYWHERE_MS);
      return { now: clock.now(), offsetMs: clock.offsetMs };
    }
    throw new DomainError(
      'concurrent_modification',
      'the clock kept being moved meanwhile; look where it is and send the request again',
    );
  }

  async follow(signal: AbortSignal): Promise<void> {
    const look = async (): Promise<number> => {
      await this.#look();
      this.#outage.over();
      return LOOK_EVERY_MS;
    };
    await repeatUntilAborted(look, (error) => this.#outage.failed(error), this.#deps.sleep, signal);
  }

  async #look(): Promise<void> {
    const { offset, clock } = this.#deps;
    clock.moveTo(await offset.read());
  }

  #targetOf(move: ClockMove, from: number): number {
    const realNow = Date.parse(this.#deps.realClock.realNow());
    const field = 'to' in move ? 'to' : 'advance';
    const target = 'to' in move ? Date.parse(move.to) - realNow : from + move.advanceMs;
    if (target < from) {
      const now = new Date(realNow + from).toISOString();
      throw refusal(
        field,
        'backward',
        `must not be before ${now}, the time of this clock: it only moves forward`,
      );
    }
    const last = new Date(realNow);
    last.setUTCFullYear(last.getUTCFullYear() + MOST_YEARS_AHEAD);
    if (!(realNow + target <= last.getTime())) {
      const until = last.toISOString();
      const message = `must not lead beyond ${until}: ${MOST_YEARS_AHEAD} years ahead of the real time are the most`;
      throw refusal(field, 'too_far_ahead', message);
    }
    return target;
  }
}

const refusal = (field: string, code: string, message: string): DomainError =>
  new DomainError('validation_error', `${field} ${message}`, [{ field, code, message }]);
