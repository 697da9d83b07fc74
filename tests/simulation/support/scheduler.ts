import type { BusinessClock, RealClock } from '../../../application/ports/clock.ts';
import type { CalendarDate } from '../../../domain/shared/calendar-date.ts';
import type { RealTime, Timestamp } from '../../../domain/shared/identifiers.ts';
import type { Random } from '../../support/random.ts';

interface Turn {
  readonly process: number;
  run(): void;
}

const LONGEST_STEP_MS = 40;
/** Longer than a lease: somebody slept while the world went on. */
const STALL_MS = 6_000;

/**
 * Time and the order of things. Whoever wants something of the world outside waits for a turn; when nobody has anything left to
 * do but wait, one turn is drawn. What runs between two turns runs undisturbed, as it does in one thread.
 */
export class Scheduler implements BusinessClock, RealClock {
  readonly #random: Random;
  readonly #stalls: number;
  readonly #waiting: Turn[] = [];
  readonly #dead = new Set<number>();
  #now = Date.parse('2026-06-20T12:00:00.000Z');

  /** @param stalls how often time leaps over a lease, as a probability for each turn */
  constructor(random: Random, stalls: number) {
    this.#random = random;
    this.#stalls = stalls;
  }

  realNow(): RealTime {
    return this.now() as string as RealTime;
  }

  now(): Timestamp {
    return new Date(this.#now).toISOString() as Timestamp;
  }

  today(): CalendarDate {
    return this.now().slice(0, 10) as CalendarDate;
  }

  isDead(process: number): boolean {
    return this.#dead.has(process);
  }

  /** Nothing that the process asks for from now on comes back, nor what it is waiting for. */
  kill(process: number): void {
    this.#dead.add(process);
  }

  /** What `act` answers or throws, once it is this one's turn. */
  turn<T>(process: number, act: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ process, run: () => void act().then(resolve, reject) });
    });
  }

  pause(process: number, ms: number): Promise<void> {
    return this.turn(process, () => {
      this.#now += ms;
      return Promise.resolve();
    });
  }

  /** Until nobody waits any more. */
  async run(): Promise<void> {
    for (;;) {
      // Everything that can go on without a turn does so before the next one is drawn.
      await new Promise(setImmediate);
      if (this.#waiting.length === 0) return;
      const [turn] = this.#waiting.splice(this.#random.below(this.#waiting.length), 1);
      if (!turn || this.#dead.has(turn.process)) continue;
      this.#now += this.#random.chance(this.#stalls) ? STALL_MS : this.#random.between(0, LONGEST_STEP_MS);
      turn.run();
    }
  }
}
