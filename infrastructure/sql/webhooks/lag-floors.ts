import { firstIdAt } from '../../../application/support/time-ordered-id.ts';
import type { SqlDialect } from '../sql-database.ts';

/** Longer than a delivery can be under way to the table, and than clocks of two processes are apart. */
const LONGEST_DELAY_MS = 120_000;
const WHOLE_EVERY_MS = 600_000;

interface Looked {
  readonly webhookId: string;
  readonly oldestCreatedAt: string | undefined;
}

/**
 * The delivery id from which a search for the oldest delivery that waits begins, by subscription. As with lanes (`lane-floors.ts`), what
 * was delivered stays in PostgreSQL's index while a transaction is held open. A delivery waits from its creation on, and ids sort by
 * creation, so none that is older than the oldest one found comes to wait any more, but for one that is asked for again: that one is
 * found by the searches from the start, every ten minutes.
 */
export class LagFloors {
  readonly #kept: boolean;
  readonly #now: () => number;
  #floors: Readonly<Record<string, string>> = {};
  #wholeAt = -Infinity;

  constructor(dialect: SqlDialect, now: () => number) {
    this.#kept = dialect === 'postgres';
    this.#now = now;
  }

  /** Undefined for a search from the start. */
  known(): Readonly<Record<string, string>> | undefined {
    const now = this.#now();
    // Also after a clock that was set back.
    const recent = now >= this.#wholeAt && now - this.#wholeAt < WHOLE_EVERY_MS;
    return this.#kept && recent ? this.#floors : undefined;
  }

  looked(found: readonly Looked[], whole: boolean): void {
    const now = this.#now();
    if (whole) this.#wholeAt = now;
    this.#floors = Object.fromEntries(
      found.map(({ webhookId, oldestCreatedAt }) => {
        const oldest = oldestCreatedAt === undefined ? now : Date.parse(oldestCreatedAt);
        return [webhookId, firstIdAt(Math.min(oldest, now) - LONGEST_DELAY_MS)];
      }),
    );
  }
}
