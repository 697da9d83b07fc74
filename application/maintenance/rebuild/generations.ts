import { expressionBuilder } from 'kysely';
import type { Expression, SqlBool } from 'kysely';
import type { Projection } from '../../../projections/projection.ts';
import { compareAndSet, guarded } from '../../sql/compare-and-set.ts';
import { alone } from '../../sql/engine.ts';
import { Pair } from './compare-generations.ts';
import { Generation } from './open-generation.ts';
import type { Places, ProjectionPlace } from './open-generation.ts';
import type { GenerationState } from '../../sql/schema.ts';
import type { SqlDatabase, Statement } from '../../sql/sql-database.ts';

export interface GenerationTables {
  /** Where there are none, tables are made as this program has them. */
  open(number: number): Promise<SqlDatabase>;
  exists(number: number): Promise<boolean>;
  /** A process that has it open goes on reading what was there, or gets an error that it is gone. */
  drop(number: number): Promise<void>;
  openPair(one: number, other: number): Promise<SqlDatabase>;
  schemaOf(number: number): string;
}

/** The number of what versions up to 2026.11.1 wrote, in tables under names of their own. */
export const BEFORE_GENERATIONS = 0;

interface Registered {
  readonly number: number;
  readonly state: GenerationState;
}

export interface ListedReadModel {
  readonly generation: number;
  readonly state: GenerationState;
  readonly projection: string;
  readonly programVersion: number;
  readonly place: ProjectionPlace | undefined;
  readonly rows: number | null;
}

const isUnfinished = ({ state }: Registered): boolean => state === 'building' || state === 'switching';

export class Generations {
  readonly #service: SqlDatabase;
  readonly #tables: GenerationTables;
  readonly projections: readonly Projection[];

  constructor(service: SqlDatabase, tables: GenerationTables, projections: readonly Projection[]) {
    this.#service = service;
    this.#tables = tables;
    this.projections = projections;
  }

  async list(): Promise<readonly Registered[]> {
    const { builder } = this.#service;
    const all = await this.#service.read(
      builder.selectFrom('read_model_generation').select(['number', 'state']).orderBy('number'),
    );
    // A lower one that serves does so for processes of the release before, which take the first.
    const last = all.findLast((one) => !isUnfinished(one));
    return all.map((one) => (one.state === 'serving' && one !== last ? { ...one, state: 'old' } : one));
  }

  async *readModels(): AsyncGenerator<ListedReadModel> {
    for (const { number, state } of await this.list()) {
      const listed = this.projections.map(({ name, version }) => ({
        ...{ generation: number, state, projection: name, programVersion: version },
        ...{ place: undefined, rows: null },
      }));
      if (state === 'damaged') {
        yield* listed;
        continue;
      }
      await using generation = await this.open(number);
      const places = await generation.places();
      for (const [index, one] of listed.entries()) {
        const place = places.get(one.projection);
        // Another version may have other tables.
        const rows =
          place?.version === one.programVersion ? await generation.rows(this.projections[index]!) : null;
        yield { ...one, place, rows };
      }
    }
  }

  /** Opens it; where it has no tables, they are made as this program has them. */
  async open(number: number): Promise<Generation> {
    return new Generation(number, await this.openTables(number));
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
    else if (all.length === 0 && (await this.#tables.exists(BEFORE_GENERATIONS)))
      await this.#register(BEFORE_GENERATIONS, 'old');
    return undefined;
  }

  /** The number of an unfinished generation of this program, or of a new one. What another release began is left to that. */
  async begin(): Promise<{ readonly number: number; readonly resumed: boolean }> {
    const all = await this.list();
    // The last one serves, so an earlier one never would.
    const unfinished = all.slice(1 + all.findLastIndex((one) => !isUnfinished(one)));
    for (const { number } of unfinished)
      if (await this.#isOfThisProgram(number)) return { number, resumed: true };
    const number = Math.max(BEFORE_GENERATIONS, ...all.map((one) => one.number)) + 1;
    await this.#register(number, 'building');
    return { number, resumed: false };
  }

  async pair(live: number, copy: number): Promise<Pair> {
    const schemas = { live: this.#tables.schemaOf(live), copy: this.#tables.schemaOf(copy) };
    return new Pair(await this.#tables.openPair(live, copy), schemas);
  }

  /**
   * Lets a generation serve in one step; from then on nothing is written into the one before, and nothing read from it. Without `before`
   * what served goes on for the processes that have it open, as those of another release do.
   * False when that one moved since `seen`. @throws Error where it is gone
   */
  async letServe(
    number: number,
    before?: { readonly live: Generation; readonly seen: Places },
  ): Promise<boolean> {
    if (!(await this.#announced(number))) return true;
    if (before) {
      const { live } = before;
      const statements = live.succession(number, before.seen, this.projections);
      if (!(await guarded(live.database.transaction(statements)))) return false;
    }
    await this.succeeded(number, before?.live.number);
    return true;
  }

  /** Records that one succeeded the other, in case the process that let it serve ended before that. */
  async succeeded(number: number, before: number | undefined): Promise<void> {
    await this.#service.transaction([
      ...this.#lock(),
      ...(before === undefined ? [] : [this.#becomes(before, 'serving', 'old')]),
      this.#becomes(number, 'switching', 'serving'),
    ]);
  }

  /** Lets a generation serve no more, because its tables are damaged. False when it did not serve. */
  async quarantine(number: number): Promise<boolean> {
    const damaged = { ...this.#becomes(number, 'serving', 'damaged'), expectChanges: 1 };
    return guarded(this.#service.transaction([...this.#lock(), damaged]));
  }

  #becomes(number: number, from: GenerationState, to: GenerationState): Statement {
    const change = { key: { number }, from: { state: from }, to: { state: to } };
    return { query: compareAndSet(this.#service.builder, 'read_model_generation', change).compile() };
  }

  /** Removes what served before and what is unfinished, unless it is about to serve; answers the numbers. */
  async dropOld(): Promise<readonly number[]> {
    const all = new Map((await this.list()).map(({ number, state }) => [number, state]));
    const dropped: number[] = [];
    for (let number = BEFORE_GENERATIONS; number <= Math.max(...all.keys()); number += 1) {
      const state = all.get(number);
      if (state === 'serving') continue;
      // A process that ended in the middle of this took it out of the register, and no further.
      if (state === undefined && !(await this.#tables.exists(number))) continue;
      const forget = this.#service.builder
        .deleteFrom('read_model_generation')
        .where('number', '=', number)
        // It may serve since it was looked at.
        .where((eb) => eb.or([eb('state', 'not in', ['switching', 'serving']), this.#laterServes(number)]));
      const query = { query: forget.compile(), expectChanges: 1 };
      if (state !== undefined && !(await guarded(this.#service.transaction([query])))) continue;
      await this.#tables.drop(number);
      dropped.push(number);
    }
    return dropped;
  }

  async #isOfThisProgram(number: number): Promise<boolean> {
    if (!(await this.#tables.exists(number))) return true;
    await using generation = await this.open(number);
    return await generation.isOf(this.projections);
  }

  /** From here on it is not dropped any more. False when it serves already. */
  async #announced(number: number): Promise<boolean> {
    const announce = this.#service.builder
      .updateTable('read_model_generation')
      .set({ state: 'switching' })
      .where('number', '=', number)
      .where('state', 'in', ['building', 'switching'])
      .where((eb) => eb.not(this.#laterServes(number)));
    const query = announce.compile();
    if (await guarded(this.#service.transaction([{ query, expectChanges: 1 }]))) return true;
    if ((await this.list()).some((one) => one.number === number && one.state === 'serving')) return false;
    throw new Error(
      `generation ${number} of the read models is gone: another process dropped it, or a later one serves`,
    );
  }

  #laterServes(number: number): Expression<SqlBool> {
    const later = this.#service.builder.selectFrom('read_model_generation as later').select('later.number');
    return expressionBuilder().exists(
      later.where('later.number', '>', number).where('later.state', '=', 'serving'),
    );
  }

  async #register(number: number, state: GenerationState): Promise<void> {
    const query = this.#service.builder
      .insertInto('read_model_generation')
      .values({ number, state })
      .onConflict((conflict) => conflict.column('number').doNothing());
    await this.#service.transaction([...this.#lock(), { query: query.compile() }]);
  }

  async #forgetLost(all: readonly Registered[]): Promise<void> {
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
