import { sql } from 'kysely';
import { GenerationGoneError } from '../../../application/ports/read-models.ts';
import type {
  Generation,
  GenerationState,
  Generations,
  Pair,
  Places,
} from '../../../application/ports/read-models.ts';
import type { Projection } from '../../../projections/projection.ts';
import { alone } from '../coordination.ts';
import { OpenGeneration, OpenPair } from './open-generation.ts';
import type { ServingGenerations } from './serving-read-model.ts';
import { GuardFailedError } from '../sql-database.ts';
import type { SqlDatabase, Statement } from '../sql-database.ts';

/** Where the tables of generations lie, and how they are opened. */
export interface GenerationTables {
  /** With tables as this program has them, made if need be. */
  open(number: number): Promise<SqlDatabase>;
  exists(number: number): Promise<boolean>;
  /** A process that has it open goes on reading what was there, or gets an error that it is gone. */
  drop(number: number): Promise<void>;
  /** Reads the tables of both, each by the name of its schema. */
  openPair(one: number, other: number): Promise<SqlDatabase>;
  schemaOf(number: number): string;
}

/** Under names of their own: what versions up to 2026.11.1 wrote. */
export const BEFORE_GENERATIONS = 0;

const guarded = async (work: Promise<unknown>): Promise<boolean> => {
  try {
    await work;
    return true;
  } catch (error) {
    if (error instanceof GuardFailedError) return false;
    throw error;
  }
};

/** Generations are registered in the service data; which one succeeds another stands in the tables of the one before. */
export class SqlGenerations implements Generations, ServingGenerations {
  readonly #service: SqlDatabase;
  readonly #tables: GenerationTables;
  readonly #projections: readonly Projection[];

  constructor(service: SqlDatabase, tables: GenerationTables, projections: readonly Projection[]) {
    this.#service = service;
    this.#tables = tables;
    this.#projections = projections;
  }

  list(): Promise<readonly { readonly number: number; readonly state: GenerationState }[]> {
    const { builder } = this.#service;
    return this.#service.read(
      builder.selectFrom('read_model_generation').select(['number', 'state']).orderBy('number'),
    );
  }

  async open(number: number): Promise<OpenGeneration> {
    return new OpenGeneration(number, await this.openTables(number));
  }

  openTables(number: number): Promise<SqlDatabase> {
    return this.#tables.open(number);
  }

  async serving(): Promise<number | undefined> {
    const all = await this.list();
    const one = all.find(({ state }) => state === 'serving');
    // A restored backup has the register of then, and no read models.
    if (one && (await this.#tables.exists(one.number))) return one.number;
    if (one) await this.#forgetLost(all);
    if (all.length > 0) return undefined;
    if (!(await this.#tables.exists(BEFORE_GENERATIONS))) return undefined;
    const adopted = await this.#isWhole(BEFORE_GENERATIONS);
    await this.#register(BEFORE_GENERATIONS, adopted ? 'serving' : 'old');
    return adopted ? BEFORE_GENERATIONS : undefined;
  }

  async begin(): Promise<{ readonly number: number; readonly resumed: boolean }> {
    const all = await this.list();
    const unfinished = all.find(({ state }) => state === 'building' || state === 'switching');
    if (unfinished) return { number: unfinished.number, resumed: true };
    const number = Math.max(BEFORE_GENERATIONS, ...all.map((one) => one.number)) + 1;
    await this.#register(number, 'building');
    return { number, resumed: false };
  }

  async pair(live: number, copy: number): Promise<Pair> {
    const schemas = { live: this.#tables.schemaOf(live), copy: this.#tables.schemaOf(copy) };
    return new OpenPair(await this.#tables.openPair(live, copy), schemas);
  }

  async letServe(
    number: number,
    before?: { readonly live: Generation; readonly seen: Places },
  ): Promise<boolean> {
    if (!(await this.#announced(number))) return true;
    if (before) {
      const live = before.live as OpenGeneration;
      const statements = live.succession(number, before.seen, this.#projections);
      if (!(await guarded(live.database.transaction(statements)))) return false;
    }
    await this.succeeded(number);
    return true;
  }

  async succeeded(number: number): Promise<void> {
    const { builder } = this.#service;
    const retire = builder
      .updateTable('read_model_generation')
      .set({ state: 'old' })
      .where('state', '=', 'serving')
      .where('number', '<', number);
    const serve = builder
      .updateTable('read_model_generation')
      .set({ state: 'serving' })
      .where('number', '=', number)
      .where('state', '=', 'switching');
    await this.#service.transaction([
      ...this.#lock(),
      ...[retire, serve].map((one) => ({ query: one.compile() })),
    ]);
  }

  async dropOld(): Promise<readonly number[]> {
    const dropped: number[] = [];
    for (const { number, state } of await this.list()) {
      if (state === 'serving' || state === 'switching') continue;
      const forget = this.#service.builder
        .deleteFrom('read_model_generation')
        .where('number', '=', number)
        .where('state', '=', state);
      const query = forget.compile();
      if (!(await guarded(this.#service.transaction([{ query, expectChanges: 1 }])))) continue;
      await this.#tables.drop(number);
      dropped.push(number);
    }
    return dropped;
  }

  /** From here on it is not dropped any more. False when it serves already. */
  async #announced(number: number): Promise<boolean> {
    const announce = this.#service.builder
      .updateTable('read_model_generation')
      .set({ state: 'switching' })
      .where('number', '=', number)
      .where('state', 'in', ['building', 'switching']);
    const query = announce.compile();
    if (await guarded(this.#service.transaction([{ query, expectChanges: 1 }]))) return true;
    if ((await this.list()).some((one) => one.number === number && one.state === 'serving')) return false;
    throw new GenerationGoneError(
      `generation ${number} of the read models is gone: another process dropped it`,
    );
  }

  /**
   * Versions up to 2026.11.1 kept two copies of every table; the first of them are tables as today. Tables that such a version has only
   * just made are left to it.
   */
  async #isWhole(number: number): Promise<boolean> {
    const database = await this.openTables(number);
    try {
      const text = sql<{ name: string; slot: string }>`select name, slot from projection_checkpoint`;
      const places = await database.read({ compile: () => text.compile(database.builder) });
      return this.#projections.every(({ name }) =>
        places.some((place) => place.name === name && place.slot === 'a'),
      );
    } finally {
      await database.close();
    }
  }

  async #register(number: number, state: GenerationState): Promise<void> {
    const query = this.#service.builder
      .insertInto('read_model_generation')
      .values({ number, state })
      .onConflict((conflict) => conflict.column('number').doNothing());
    await this.#service.transaction([...this.#lock(), { query: query.compile() }]);
  }

  async #forgetLost(
    all: readonly { readonly number: number; readonly state: GenerationState }[],
  ): Promise<void> {
    for (const { number, state } of all) {
      // Another process may be about to build the tables of that one.
      if (state === 'building' || (await this.#tables.exists(number))) continue;
      const query = this.#service.builder.deleteFrom('read_model_generation').where('number', '=', number);
      await this.#service.transaction([{ query: query.compile() }]);
    }
  }

  #lock(): readonly Statement[] {
    return alone(this.#service, 'read model generations');
  }
}
