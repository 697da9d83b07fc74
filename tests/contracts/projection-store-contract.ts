import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import fc from 'fast-check';
import type { LogPosition } from '../../application/ports/event-store.ts';
import type { ProjectionStore } from '../../application/projecting/projection-store.ts';
import type { Projection, Row, TableWrite } from '../../projections/projection.ts';
import { installmentWrite, installments } from './installment-writes.ts';
import { InMemoryTables } from '../projections/in-memory-tables.ts';
import type { Promised } from './promises.ts';

export interface ProjectionStoreUnderTest {
  readonly store: ProjectionStore;
  /** All rows of a logical table, in any order. */
  readonly rows: (table: string) => Promise<readonly Row[]>;
  readonly empty: (projection: Projection) => Promise<void>;
}

const at = (position: string): LogPosition => position as LogPosition;

const newProjection = (version = 1): Projection => ({
  name: randomUUID(),
  version,
  tables: ['status_history', 'installment_credit'],
  project: () => [],
});

const status = (stream: string, revision: number, name = 'received'): Row => ({
  stream,
  revision,
  status: name,
  at: '2026-01-15T12:00:00.000Z',
});
const insert = (...rows: readonly Row[]): TableWrite => ({ op: 'insert', table: 'status_history', rows });

const history = async ({ rows }: ProjectionStoreUnderTest, stream: string): Promise<readonly Row[]> =>
  (await rows('status_history'))
    .filter((row) => row.stream === stream)
    .toSorted((a, b) => Number(a.revision) - Number(b.revision));

const byKey = (rows: readonly Row[]): readonly Row[] =>
  rows.toSorted((a, b) => (`${a['stream']} ${a['code']}` < `${b['stream']} ${b['code']}` ? -1 : 1));

const writing: readonly Promised<ProjectionStoreUnderTest>[] = [
  {
    name: 'a batch comes to what its writes come to one after the other',
    check: async ({ store, rows, empty }) => {
      const projection: Projection = { ...newProjection(), tables: ['installment'] };
      const batch = fc.array(installmentWrite(), { maxLength: 12 });
      const law = fc.asyncProperty(batch, async (some) => {
        const writes = [installments(), ...some];
        const plain = new InMemoryTables();
        await empty(projection);
        await store.apply(projection, writes, 'start', at('1'));
        await plain.apply(projection, writes, 'start', at('1'));
        expect(byKey(await rows('installment'))).toEqual(byKey(plain.rows('installment')));
      });
      await fc.assert(law, { numRuns: 100, endOnFailure: true });
      await empty(projection);
    },
  },
  {
    name: 'rows of a batch and its checkpoint are there together',
    check: async (fixture) => {
      const [projection, stream] = [newProjection(), randomUUID()];
      expect(await fixture.store.checkpoint(projection)).toBe('start');
      const stored = await fixture.store.apply(projection, [insert(status(stream, 0))], 'start', at('7'));
      expect(stored).toBe(true);
      expect(await fixture.store.checkpoint(projection)).toBe('7');
      expect(await history(fixture, stream)).toEqual([status(stream, 0)]);
    },
  },
  {
    name: 'writes take effect in their order, and touch the rows of their condition only',
    check: async (fixture) => {
      const [projection, one, other] = [newProjection(), randomUUID(), randomUUID()];
      const table = 'status_history';
      await fixture.store.apply(
        projection,
        [
          insert(status(one, 0), status(one, 1), status(other, 0)),
          { op: 'update', table, where: { stream: one, revision: 1 }, set: { status: 'approved' } },
          { op: 'update', table, where: { stream: one }, set: { at: 'later' }, add: { revision: 10 } },
          { op: 'delete', table, where: { stream: one, revision: 10 } },
          { op: 'delete', table, where: { stream: 'nobody' } },
          { op: 'insert', table, rows: [] },
        ],
        'start',
        at('1'),
      );
      expect(await history(fixture, one)).toEqual([
        { stream: one, revision: 11, status: 'approved', at: 'later' },
      ]);
      expect(await history(fixture, other)).toEqual([status(other, 0)]);
    },
  },
  {
    name: 'inserts of several events keep their order with what else is written to the same rows',
    check: async (fixture) => {
      const [projection, stream] = [newProjection(), randomUUID()];
      const table = 'status_history';
      const credit = (revision: number): TableWrite => ({
        op: 'insert',
        table: 'installment_credit',
        rows: [
          { stream, installment_code: '001', revision, value: '1', date: '2026-01-15', recorded_at: 'now' },
        ],
      });
      await fixture.store.apply(
        projection,
        [
          ...[insert(status(stream, 0, 'first')), credit(0), insert(status(stream, 1)), credit(1)],
          { op: 'delete', table, where: { stream, revision: 0 } },
          ...[insert(status(stream, 0, 'second')), credit(2), insert(status(stream, 2))],
          { op: 'update', table, where: { stream }, set: { at: 'later' } },
          insert(status(stream, 3)),
          // Another order of the same columns.
          insert({ at: 'now', status: 'received', revision: 4, stream }),
        ],
        'start',
        at('1'),
      );
      expect(await history(fixture, stream)).toEqual([
        { ...status(stream, 0, 'second'), at: 'later' },
        { ...status(stream, 1), at: 'later' },
        { ...status(stream, 2), at: 'later' },
        status(stream, 3),
        { ...status(stream, 4), at: 'now' },
      ]);
      const credits = (await fixture.rows('installment_credit')).filter((row) => row.stream === stream);
      expect(credits.map(({ revision }) => revision).toSorted()).toEqual([0, 1, 2]);
    },
  },
  {
    name: 'an insert of 480 rows stores them all',
    check: async (fixture) => {
      const [projection, stream] = [newProjection(), randomUUID()];
      const rows = Array.from({ length: 480 }, (_, revision) => status(stream, revision, `s${revision}`));
      await fixture.store.apply(projection, [insert(...rows)], 'start', at('1'));
      expect(await history(fixture, stream)).toEqual(rows);
    },
  },
  {
    name: 'a checkpoint moves without writes as well',
    check: async ({ store }) => {
      const projection = newProjection();
      expect(await store.apply(projection, [], 'start', at('5'))).toBe(true);
      expect(await store.apply(projection, [], at('5'), at('6'))).toBe(true);
      expect(await store.checkpoint(projection)).toBe('6');
    },
  },
];

const fencing: readonly Promised<ProjectionStoreUnderTest>[] = [
  {
    name: 'a batch that does not follow the stored checkpoint writes nothing',
    check: async (fixture) => {
      const [projection, stream] = [newProjection(), randomUUID()];
      await fixture.store.apply(projection, [insert(status(stream, 0))], 'start', at('10'));
      for (const expected of ['start', at('9'), at('11')] as const) {
        const stored = await fixture.store.apply(projection, [insert(status(stream, 1))], expected, at('12'));
        expect(stored).toBe(false);
      }
      expect(await fixture.store.checkpoint(projection)).toBe('10');
      expect(await history(fixture, stream)).toHaveLength(1);
    },
  },
  {
    name: 'the same batch twice is stored once',
    check: async (fixture) => {
      const [projection, stream] = [newProjection(), randomUUID()];
      const again = () => fixture.store.apply(projection, [insert(status(stream, 0))], 'start', at('1'));
      expect([await again(), await again()]).toEqual([true, false]);
    },
  },
  {
    name: 'of projectors that race for every batch, exactly one stores it',
    check: async (fixture) => {
      const [projection, stream] = [newProjection(), randomUUID()];
      let expected: LogPosition | 'start' = 'start';
      for (let batch = 0; batch < 10; batch++) {
        const next = at(String(batch));
        const race = [0, 1, 2, 3].map(() =>
          fixture.store.apply(projection, [insert(status(stream, batch))], expected, next),
        );
        expect((await Promise.all(race)).filter(Boolean)).toHaveLength(1);
        expected = next;
      }
      expect(await history(fixture, stream)).toHaveLength(10);
    },
  },
  {
    name: 'a write that the tables refuse leaves neither rows nor checkpoint',
    check: async (fixture) => {
      const [projection, stream] = [newProjection(), randomUUID()];
      const twice = [insert(status(stream, 0)), insert(status(stream, 0))];
      await expect(fixture.store.apply(projection, twice, 'start', at('1'))).rejects.toThrow();
      expect(await fixture.store.checkpoint(projection)).toBe('start');
      expect(await history(fixture, stream)).toEqual([]);
    },
  },
  {
    name: 'a table that it does not know is refused',
    check: async ({ store }) => {
      const writes: TableWrite[] = [{ op: 'insert', table: 'client', rows: [{ client_id: 'x' }] }];
      await expect(store.apply(newProjection(), writes, 'start', at('1'))).rejects.toThrow('client');
    },
  },
];

const rebuilding: readonly Promised<ProjectionStoreUnderTest>[] = [
  {
    name: 'projections do not share a checkpoint',
    check: async ({ store }) => {
      const [one, other] = [newProjection(), newProjection()];
      await store.apply(one, [], 'start', at('3'));
      expect(await store.checkpoint(other)).toBe('start');
    },
  },
  {
    name: 'rows of another version are neither emptied nor written',
    check: async (fixture) => {
      const [there, stream] = [newProjection(2), randomUUID()];
      await fixture.store.apply(there, [insert(status(stream, 0))], 'start', at('1'));
      for (const version of [1, 3]) {
        const other = { ...there, version };
        await expect(fixture.store.checkpoint(other)).rejects.toThrow('version 2');
        expect(await fixture.store.apply(other, [insert(status(stream, 1))], at('1'), at('2'))).toBe(false);
      }
      expect(await history(fixture, stream)).toHaveLength(1);
    },
  },
];

export const projectionStoreCases: readonly Promised<ProjectionStoreUnderTest>[] = [
  ...writing,
  ...fencing,
  ...rebuilding,
];
