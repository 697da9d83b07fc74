import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import { RebuildProjection, RebuildRefusedError } from '../../application/rebuild/rebuild-projection.ts';
import type { RebuildRequest, RebuildResult } from '../../application/rebuild/rebuild-projection.ts';
import type { LogPosition, RecordedEvent } from '../../application/ports/event-store.ts';
import type { RowDifference } from '../../application/ports/projection-copies.ts';
import { LiveReadModel } from '../../infrastructure/sql/live-read-model.ts';
import { SqlProjectionCopies } from '../../infrastructure/sql/projection-copies.ts';
import { SqlProjectionStore } from '../../infrastructure/sql/projection-store.ts';
import type { SqlDatabase } from '../../infrastructure/sql/sql-database.ts';
import type { Projection, TableWrite } from '../../projections/engine/projection.ts';

const TABLE = 'status_history';
const at = (n: number): LogPosition => String(n) as LogPosition;
const stream = (n: number): string => `loan-app.S${n % 7}`;
const numberOf = (position: string): number => (position === 'start' ? 0 : Number(position));

/** One row an event. `status` is what this version of the program makes of it. */
const write = (n: number, status: string): TableWrite => ({
  op: 'insert',
  table: TABLE,
  rows: [{ stream: stream(n), revision: n, status, at: '2026-01-15T12:00:00.000Z' }],
});
const projection = (name: string, version = 1): Projection => ({
  name,
  version,
  tables: [TABLE],
  project: () => [],
});

/** A read model that serves, its log, and what a rebuild makes of the same log. */
class World {
  readonly name = randomUUID();
  readonly store: SqlProjectionStore;
  readonly copies: SqlProjectionCopies;
  readonly readers: LiveReadModel;
  readonly differences: RowDifference[] = [];
  readonly live = projection(this.name);
  #end = 0;
  #served = 0;

  constructor(database: SqlDatabase) {
    this.store = new SqlProjectionStore(database);
    this.copies = new SqlProjectionCopies(database);
    this.readers = new LiveReadModel(database, [{ name: this.name, tables: [TABLE] }]);
  }

  append(count: number): void {
    this.#end += count;
  }

  /** The projector of the service takes in what is there. */
  async serve(status = 'received'): Promise<boolean> {
    const place = await this.store.checkpoint(this.live);
    const writes: TableWrite[] = [];
    for (let n = numberOf(place) + 1; n <= this.#end; n++) writes.push(write(n, status));
    this.#served = this.#end;
    return this.store.apply(this.live, writes, place, at(this.#served));
  }

  rebuild(
    status: string,
    more: Partial<RebuildRequest> & { readonly after?: () => Promise<void> } = {},
  ): Promise<RebuildResult> {
    const { after = () => Promise.resolve(), ...request } = more;
    const rebuilding = new RebuildProjection({
      copies: this.copies,
      log: { subscribe: ({ from }) => this.#log(numberOf(from)) },
      writesOf: (_, events) => events.map(({ revision }) => write(Number(revision), status)),
      streamPrefix: 'loan-',
      breathe: after,
      sleep: () => Promise.resolve(),
      order: { compare: (a, b) => numberOf(a) - numberOf(b), share: () => 1 },
    });
    return rebuilding.execute({
      projection: this.live,
      force: false,
      signal: new AbortController().signal,
      onProgress: () => undefined,
      onDifference: (difference) => void this.differences.push(difference),
      ...request,
    });
  }

  async rows(): Promise<readonly string[]> {
    const query = this.readers.builder.selectFrom(TABLE).select(['revision', 'status']).orderBy('revision');
    return (await this.readers.read(query)).map(({ revision, status }) => `${revision} ${status}`);
  }

  async *#log(from: number) {
    for (let n = from + 1; n <= this.#end; n += 3) {
      const last = Math.min(n + 2, this.#end);
      const events = Array.from({ length: last - n + 1 }, (_, i) => {
        const position = at(n + i);
        return { stream: stream(n + i), revision: BigInt(n + i), position } as RecordedEvent;
      });
      yield { kind: 'events' as const, events, checkpoint: at(last) };
    }
    yield { kind: 'caught_up' as const };
  }
}

const expected = (count: number, status: string): readonly string[] =>
  Array.from({ length: count }, (_, i) => `${i + 1} ${status}`);

export interface CopiesCase {
  readonly name: string;
  readonly check: (world: World) => Promise<void>;
}
export const copiesWorld = (database: SqlDatabase): World => new World(database);

export const copiesCases: readonly CopiesCase[] = [
  {
    name: 'the new copy serves in one step, the old one is kept until it is dropped, and then the way back is free',
    check: async (world) => {
      world.append(10);
      await world.serve();
      expect(await world.rebuild('received')).toMatchObject({
        outcome: 'switched',
        differences: 0,
        events: 10,
      });
      expect((await world.copies.places(world.name)).copy).toMatchObject({ state: 'old', position: '10' });
      expect(await world.rows()).toEqual(expected(10, 'received'));
      await expect(world.rebuild('received')).rejects.toThrow(RebuildRefusedError);
      expect(await world.copies.drop(world.live)).toBe(true);
      expect(await world.copies.rows(world.live)).toEqual({ live: 10, copy: 0 });
      world.append(2);
      await world.serve();
      expect(await world.rebuild('received')).toMatchObject({
        outcome: 'switched',
        differences: 0,
        events: 12,
      });
      expect(await world.rows()).toEqual(expected(12, 'received'));
    },
  },
  {
    name: 'a projector that still knows the old copy stores nothing in it and goes on in the new one',
    check: async (world) => {
      world.append(4);
      await world.serve();
      await world.rebuild('received');
      expect(await world.store.apply(world.live, [write(5, 'lost')], at(4), at(5))).toBe(false);
      world.append(1);
      expect(await world.serve()).toBe(true);
      expect(await world.rows()).toEqual(expected(5, 'received'));
    },
  },
  {
    name: 'rows that differ are reported, keep the switch back, and are taken over by force',
    check: async (world) => {
      world.append(5);
      await world.serve('received');
      expect(await world.rebuild('approved')).toMatchObject({ outcome: 'differs', differences: 5 });
      expect(world.differences[0]).toMatchObject({
        table: TABLE,
        columns: { status: { live: 'received', copy: 'approved' } },
      });
      expect(await world.rows()).toEqual(expected(5, 'received'));
      expect(await world.rebuild('approved', { force: true })).toMatchObject({
        outcome: 'switched',
        resumed: true,
      });
      expect(await world.rows()).toEqual(expected(5, 'approved'));
    },
  },
  {
    name: 'a log that goes on during the rebuild is no difference',
    check: async (world) => {
      world.append(9);
      await world.serve();
      let turns = 0;
      const after = async (): Promise<void> => {
        if ((turns += 1) > 6) return;
        world.append(4);
        if (turns % 2 === 0) await world.serve();
      };
      const rebuilt = world.rebuild('received', { after });
      const projector = (async () => {
        for (let n = 0; n < 40; n++) await world.serve();
      })();
      expect(await rebuilt).toMatchObject({ outcome: 'switched', differences: 0 });
      await projector;
      expect(await world.rows()).toEqual(expected(9 + 6 * 4, 'received'));
    },
  },
  {
    name: 'a reader finds every row at every moment, however often the copies change places',
    check: async (world) => {
      world.append(20);
      await world.serve();
      let done = false;
      const counts = new Set<number>();
      const reading = (async () => {
        while (!done) counts.add((await world.rows()).length);
      })();
      for (let turn = 0; turn < 6; turn++) {
        expect(await world.rebuild('received')).toMatchObject({ outcome: 'switched' });
        await world.copies.drop(world.live);
      }
      done = true;
      await reading;
      expect([...counts]).toEqual([20]);
    },
  },
  {
    name: 'a copy of the next version waits until a program of that version starts, and serves from then on',
    check: async (world) => {
      world.append(3);
      await world.serve('received');
      const next = projection(world.name, 2);
      expect(await world.rebuild('approved', { projection: next })).toMatchObject({ outcome: 'ready' });
      expect(await world.rows()).toEqual(expected(3, 'received'));
      expect(await world.store.checkpoint(next)).toBe('3');
      expect(await world.rows()).toEqual(expected(3, 'approved'));
      await expect(world.rebuild('received')).rejects.toThrow('serves version 2, this program builds 1');
    },
  },
];
