import type { Connection } from './connection.ts';
import { writeGroup } from './unit-execution.ts';
import type { FlatUnit, Outcome } from './units.ts';

/** How long a relaxed transaction may stay off the disk. */
const FLUSH_AFTER_MS = 1_000;

/** Writes groups of units, and sees to it that what need not wait for the disk gets there soon all the same. */
export class UnitWriter {
  readonly #connection: Connection;
  #flushing: NodeJS.Timeout | undefined;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** @throws the error of COMMIT: what is on disk is unknown then, and this connection must not go on */
  carryOut(units: readonly FlatUnit[]): readonly Outcome[] {
    return writeGroup(this.#connection, units);
  }

  afterwards(): void {
    if (this.#flushing || !this.#connection.unflushed) return;
    this.#flushing = setTimeout(() => {
      this.#flushing = undefined;
      this.#connection.flush();
    }, FLUSH_AFTER_MS);
  }

  close(): void {
    clearTimeout(this.#flushing);
    this.#connection.close();
  }
}
