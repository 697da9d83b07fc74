interface Answer {
  /** Milliseconds since 1970, as the server printed it. */
  readonly now: string;
}

interface Clocks {
  /** Milliseconds that nothing moves back. */
  readonly steady: () => number;
  /** Milliseconds since 1970 by this machine. */
  readonly wall: () => number;
}

const OWN: Clocks = { steady: () => performance.now(), wall: () => Date.now() };

/** An answer that took longer says too little about when the server looked at its clock, unless there is no better one. */
const PROMPT_MS = 250;
/** The machine was asleep: the steady clock of some systems stands still meanwhile. */
const ASLEEP_MS = 1_000;
const GOOD_FOR_MS = 10_000;

/**
 * The time of a database server, known in this process without asking each time: processes whose own clocks disagree tell the same
 * time by it, within half of what an answer takes. Before the first answer it is the machine's own.
 */
export class ServerClock {
  readonly #clocks: Clocks;
  #measured: { readonly steady: number; readonly wall: number; readonly server: number } | undefined;

  constructor(clocks: Clocks = OWN) {
    this.#clocks = clocks;
  }

  /** UNIX milliseconds. */
  now(): number {
    const last = this.#measured;
    if (!last) return this.#clocks.wall();
    // After a sleep leases count as ended, until the server has been asked again.
    return Math.round(last.server + this.#clocks.steady() - last.steady + this.#sleptMs());
  }

  /** Whether the server should be asked again. */
  get due(): boolean {
    const last = this.#measured;
    return !last || this.#clocks.steady() - last.steady > GOOD_FOR_MS || this.#sleptMs() > 0;
  }

  #sleptMs(): number {
    const last = this.#measured!;
    const slept = this.#clocks.wall() - last.wall - (this.#clocks.steady() - last.steady);
    return slept > ASLEEP_MS ? slept : 0;
  }

  /** Asks, and learns the time from the answer. */
  async measure<Row extends Answer>(
    ask: () => Promise<{ readonly rows: readonly Row[] }>,
  ): Promise<{ readonly answer: Row }> {
    const asked = this.#clocks.steady();
    const { rows } = await ask();
    const [answer] = rows as readonly [Row];
    const steady = this.#clocks.steady();
    const tookMs = steady - asked;
    if (tookMs > PROMPT_MS && !this.due) return { answer };
    this.#measured = { steady, wall: this.#clocks.wall(), server: Number(answer.now) + tookMs / 2 };
    return { answer };
  }
}
