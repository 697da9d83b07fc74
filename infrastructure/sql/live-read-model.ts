import type { CompiledQuery, Kysely } from 'kysely';
import { LRUCache } from 'lru-cache';
import { READ_MODEL_NAMES, physicalName } from './read-model-slots.ts';
import type { Slot } from './slot.ts';
import type { Schema } from './schema.ts';
import type {
  Query,
  SqlDatabase,
  SqlDialect,
  Statement,
  StatementResult,
  TransactionOptions,
} from './sql-database.ts';

interface Routed {
  /** Projections whose tables it names. */
  readonly of: readonly string[];
  readonly text: string;
}

interface Owner {
  readonly name: string;
  readonly tables: readonly string[];
}

const ATTEMPTS = 5;
// Builders quote every name, and no text of ours holds a table's name in quotes for anything else.
const QUOTED_TABLE = new RegExp(`"(${READ_MODEL_NAMES.join('|')})"`, 'g');

/**
 * The read model as its readers see it: each query goes to the copies that serve. Which these are is read in the snapshot of the
 * query itself, so an answer never mixes two copies and never comes from one that no longer serves.
 */
export class LiveReadModel implements SqlDatabase {
  readonly dialect: SqlDialect;
  readonly builder: Kysely<Schema>;
  readonly #inner: SqlDatabase;
  readonly #owners: ReadonlyMap<string, string>;
  readonly #texts = new LRUCache<string, Routed>({ max: 1_000 });
  readonly #routes: Query<{ name: string; slot: Slot }>;
  #slots: ReadonlyMap<string, Slot> = new Map();

  constructor(inner: SqlDatabase, owners: readonly Owner[]) {
    this.#inner = inner;
    this.dialect = inner.dialect;
    this.builder = inner.builder;
    this.#owners = new Map(owners.flatMap(({ name, tables }) => tables.map((table) => [table, name])));
    const routes = inner.builder.selectFrom('projection_checkpoint').select(['name', 'slot']).compile();
    this.#routes = { compile: () => routes };
  }

  async read<Row>(query: Query<Row>): Promise<readonly Row[]> {
    const [rows] = await this.snapshot<[Row]>([query]);
    return rows;
  }

  async snapshot<Rows extends readonly unknown[]>(queries: {
    readonly [Index in keyof Rows]: Query<Rows[Index]>;
  }): Promise<{ readonly [Index in keyof Rows]: readonly Rows[Index][] }> {
    const compiled = (queries as readonly Query<unknown>[]).map((query) => query.compile());
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const used = new Map<string, Slot>();
      const routed = compiled.map((query) => this.#route(query, used));
      if (used.size === 0) return this.#inner.snapshot(queries);
      const [routes, ...tables] = await this.#inner.snapshot<readonly unknown[]>([
        this.#routes,
        ...routed.map((query) => ({ compile: () => query })),
      ]);
      if (this.#held(used, routes as readonly { name: string; slot: Slot }[]))
        return tables as unknown as { readonly [Index in keyof Rows]: readonly Rows[Index][] };
    }
    throw new Error('the read model changed its copies at every attempt to read it');
  }

  /** As it is written: writes go through the store of the projections, which knows the copies. */
  transaction(
    statements: readonly Statement[],
    options?: TransactionOptions,
  ): Promise<readonly StatementResult[]> {
    return this.#inner.transaction(statements, options);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  /** True when the answer came from the copies that served in its own snapshot. */
  #held(used: ReadonlyMap<string, Slot>, routes: readonly { name: string; slot: Slot }[]): boolean {
    const slots = new Map(routes.map(({ name, slot }) => [name, slot]));
    const held = [...used].every(([name, slot]) => (slots.get(name) ?? 'a') === slot);
    if (!held) {
      this.#slots = slots;
      this.#texts.clear();
    }
    return held;
  }

  #route(query: CompiledQuery, used: Map<string, Slot>): CompiledQuery {
    let routed = this.#texts.get(query.sql);
    if (!routed) this.#texts.set(query.sql, (routed = this.#rewritten(query.sql)));
    for (const name of routed.of) used.set(name, this.#slots.get(name) ?? 'a');
    return routed.text === query.sql ? query : { ...query, sql: routed.text };
  }

  #rewritten(text: string): Routed {
    const of = new Set<string>();
    const rewritten = text.replace(QUOTED_TABLE, (quoted, table: string) => {
      const owner = this.#owners.get(table);
      if (owner === undefined) return quoted;
      of.add(owner);
      return `"${physicalName(table, this.#slots.get(owner) ?? 'a')}"`;
    });
    return { of: [...of], text: rewritten };
  }
}
