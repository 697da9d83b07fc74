import { changeRow, guarded } from '../sql/compare-and-set.ts';
import type { SqlDatabase, Statement } from '../sql/sql-database.ts';

/** An operation with an event that cannot be published: from that event on, its events wait. */
interface HeldBack {
  readonly stream: string;
  readonly revision: bigint;
  readonly eventType: string;
  readonly reason: string;
}

/** What the relay holds back. Durable when a call resolves. */
export class RelayQuarantine {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  async list(): Promise<readonly (HeldBack & { readonly released: boolean })[]> {
    const query = this.#database.builder
      .selectFrom('relay_quarantine')
      .select(['stream', 'revision', 'event_type as eventType', 'reason', 'released'])
      .orderBy('stream');
    const rows = await this.#database.read(query);
    return rows.map((row) => ({
      ...row,
      revision: BigInt(row.revision),
      released: Number(row.released) === 1,
    }));
  }

  async waits(stream: string): Promise<boolean> {
    const query = this.#database.builder
      .selectFrom('relay_quarantine')
      .select('stream')
      .where('stream', '=', stream);
    return (await this.#database.read(query)).length > 0;
  }

  async release(stream: string): Promise<boolean> {
    const query = this.#database.builder
      .updateTable('relay_quarantine')
      .set({ released: 1 })
      .where('stream', '=', stream);
    return guarded(this.#database.transaction([{ query: query.compile(), expectChanges: 1 }]));
  }

  /** Belongs into the transaction of the place that passes the event. Keeps what is there for the operation, but for the reason, and takes a release back. */
  holding({ stream, revision, eventType, reason }: HeldBack): Statement {
    const query = this.#database.builder
      .insertInto('relay_quarantine')
      .values({ stream, revision: Number(revision), event_type: eventType, reason, released: 0 })
      .onConflict((conflict) => conflict.column('stream').doUpdateSet({ reason, released: 0 }));
    return { query: query.compile() };
  }

  /** What was released cannot be published after all, or everything that waited is: false where another process has seen to it. */
  settle({ stream, revision }: Pick<HeldBack, 'stream' | 'revision'>, reason?: string): Promise<boolean> {
    const from = { revision: Number(revision), released: 1 };
    const to = reason === undefined ? undefined : { reason, released: 0 };
    return changeRow(this.#database, 'relay_quarantine', { key: { stream }, from, to });
  }
}
