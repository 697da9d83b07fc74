import { OutcomeUnknownError, StoreUnavailableError } from '../../application/ports/event-store.ts';
import { messageOf } from '../../application/support/failures.ts';
import { TurnLimit } from '../support/turn-limit.ts';
import { Connection } from './connection.ts';
import type { ConnectionSettings } from './connection.ts';
import { writeGroup } from './units.ts';
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

/** What writes a file's tables: a thread of its own, or the thread that asks. */
export interface UnitCarrier {
  /** @throws StoreUnavailableError @throws OutcomeUnknownError */
  call(unit: FlatUnit): Promise<Outcome>;
  close(graceMs: number): Promise<void>;
}

/** Writes where it is asked, on a connection of its own: for a thread that may wait for the disk, and saves it every message. */
export class DirectUnits implements UnitCarrier {
  readonly #settings: ConnectionSettings;
  readonly #turn = new TurnLimit();
  #writer: UnitWriter | undefined;
  #last: Promise<void> = Promise.resolve();
  #closed = false;

  /** @throws Error when the file cannot be opened */
  constructor(settings: ConnectionSettings) {
    this.#settings = settings;
    this.#writer = new UnitWriter(new Connection(settings));
  }

  async call(unit: FlatUnit): Promise<Outcome> {
    if (this.#closed) throw new StoreUnavailableError(`${this.#settings.path} is closed`);
    const before = this.#last;
    const mine = Promise.withResolvers<void>();
    // In the order of the calls, also where one of them gives way to the rest of the event loop.
    this.#last = mine.promise;
    await before;
    await this.#turn.pass();
    try {
      return this.#write(unit);
    } finally {
      mine.resolve();
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#last;
    this.#writer?.close();
    this.#writer = undefined;
  }

  #write(unit: FlatUnit): Outcome {
    const writer = (this.#writer ??= this.#reopened());
    try {
      const [outcome] = writer.carryOut([unit]);
      writer.afterwards();
      return outcome!;
    } catch (error) {
      // What COMMIT has stored is not known, and this connection must not go on.
      this.#writer = undefined;
      writer.close();
      throw new OutcomeUnknownError(messageOf(error), { cause: error });
    }
  }

  #reopened(): UnitWriter {
    try {
      return new UnitWriter(new Connection(this.#settings));
    } catch (error) {
      throw new StoreUnavailableError(`${this.#settings.path}: ${messageOf(error)}`, { cause: error });
    }
  }
}
