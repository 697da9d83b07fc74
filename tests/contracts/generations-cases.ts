import { expect } from '@jest/globals';
import type { GenerationState } from '../../application/sql/schema.ts';
import { SqlProjectionStore } from '../../application/projecting/projection-store.ts';
import { within } from '../support/within.ts';
import { comparing } from './generations-comparing-cases.ts';
import { TABLE, at, expected, projection, write } from './generations-world.ts';
import type { GenerationsCase, World } from './generations-world.ts';

/** As a process that was killed left it in the register. */
const registered = async ({ fixture }: World, state: GenerationState, number: number): Promise<void> => {
  const { builder } = fixture.service;
  const register = builder.updateTable('read_model_generation').set({ state }).where('number', '=', number);
  await fixture.service.transaction([{ query: register.compile() }]);
};

const switching: readonly GenerationsCase[] = [
  {
    name: 'where nothing serves, a generation is built from the log before it serves',
    check: async (world) => {
      world.append(5);
      expect(await world.upToDate()).toBe(false);
      await expect(world.opened()).rejects.toThrow('no generation');
      expect(await world.rebuild('received', { force: true })).toMatchObject({
        outcome: 'switched',
        generation: 1,
        events: 5,
      });
      expect(await world.upToDate()).toBe(true);
      expect(await world.rows(await world.opened())).toEqual(expected(5, 'received'));
    },
  },
  {
    name: 'the new generation serves in one step, and the old one is kept until it is dropped',
    check: async (world) => {
      await world.begin(10);
      const result = { generation: 2, outcome: 'switched', differences: 0, events: 10 };
      expect(await world.rebuild('received')).toMatchObject(result);
      expect(await world.states()).toEqual({ 1: 'old', 2: 'serving' });
      expect(await world.rows()).toEqual(expected(10, 'received'));
      expect(await world.generations().dropOld()).toEqual([1]);
      expect(await world.fixture.tables.exists(1)).toBe(false);
      world.append(2);
      await world.serve();
      expect(await world.rebuild('received')).toMatchObject({ generation: 3, differences: 0, events: 12 });
      expect(await world.rows()).toEqual(expected(12, 'received'));
    },
  },
  {
    name: 'nothing is written into a generation that another has succeeded, and its projector goes on in that one',
    check: async (world) => {
      await world.begin(4);
      const before = await world.generations().open(1);
      await world.rebuild('received');
      expect(await before.store.apply(projection(1), [write(5, 'lost')], at(4), at(5))).toBe(false);
      await before.database.close();
      world.append(1);
      expect(await world.serve()).toBe(true);
      expect(await world.rows()).toEqual(expected(5, 'received'));
    },
  },
  {
    name: 'what follows a place that was read in one generation is not written into the next, though it begins at that very place',
    check: async (world) => {
      await world.begin(4);
      const readModel = await world.opened();
      const store = new SqlProjectionStore(readModel);
      const place = await store.checkpoint(projection(1));
      await world.rebuild('received');
      expect(await world.rows(readModel)).toEqual(expected(4, 'received'));
      expect(await store.apply(projection(1), [write(5, 'lost')], place, at(5))).toBe(false);
      expect(await store.checkpoint(projection(1))).toBe(place);
      expect(await store.apply(projection(1), [write(5, 'received')], place, at(5))).toBe(true);
    },
  },
  {
    name: 'a process that slept through two switches and the removal of what it read goes on in what serves',
    check: async (world) => {
      await world.begin(4);
      const [reader, writer] = [await world.opened(), await world.opened()];
      for (let turn = 0; turn < 2; turn++) {
        await world.rebuild('received');
        await world.generations().dropOld();
      }
      expect(await world.rows(reader)).toEqual(expected(4, 'received'));
      world.append(1);
      expect(await world.serve('received', writer)).toBe(true);
      expect(await world.rows(reader)).toEqual(expected(5, 'received'));
    },
  },
  {
    name: 'what a killed process had taken out of the register, and not dropped, goes with the old ones',
    check: async (world) => {
      await world.begin(3);
      for (let turn = 0; turn < 2; turn++) await world.rebuild('received');
      const { service, tables } = world.fixture;
      const forget = service.builder.deleteFrom('read_model_generation').where('number', '=', 1);
      await service.transaction([{ query: forget.compile() }]);
      expect(await world.generations().dropOld()).toEqual([1, 2]);
      expect(await tables.exists(1)).toBe(false);
      expect(await world.rows(await world.opened())).toEqual(expected(3, 'received'));
    },
  },
  {
    name: 'a switch that was killed before it was registered is registered by whoever reads next',
    check: async (world) => {
      await world.begin(3);
      await world.rebuild('received');
      await registered(world, 'serving', 1);
      await registered(world, 'switching', 2);
      expect(await world.rows(await world.opened())).toEqual(expected(3, 'received'));
      expect(await world.states()).toEqual({ 1: 'old', 2: 'serving' });
    },
  },
  {
    name: 'one that is damaged serves no more, to no process, until another was built beside it',
    check: async (world) => {
      await world.begin(4);
      const elsewhere = await world.opened();
      expect(await world.generations().quarantine(1)).toBe(true);
      expect(await world.generations().quarantine(1)).toBe(false);
      expect(await world.generations().serving()).toBeUndefined();
      expect(await world.upToDate()).toBe(false);
      const result = { generation: 2, outcome: 'switched', events: 4 };
      expect(await world.rebuild('approved', { force: true })).toMatchObject(result);
      expect(await world.states()).toEqual({ 1: 'damaged', 2: 'serving' });
      await within('another process to go on', 5_000, async () => {
        return (await world.rows(elsewhere))[0] === '1 approved';
      });
      expect(await world.generations().dropOld()).toEqual([1]);
    },
  },
];

/** As the tables were in a release before. */
const madeBefore = async (world: World, number: number): Promise<void> => {
  const tables = await world.fixture.tables.open(number);
  const rename = tables.builder.schema.alterTable(TABLE).renameColumn('event_id', 'former_id').compile();
  await tables.transaction([{ query: rename }]);
  await tables.close();
};

const releases: readonly GenerationsCase[] = [
  {
    name: 'what a release before left unfinished is not gone on with, and goes with the old ones',
    check: async (world) => {
      await world.begin(3);
      expect(await world.rebuild('approved')).toMatchObject({ generation: 2, outcome: 'differs' });
      await madeBefore(world, 2);
      const rebuilt = await world.rebuild('approved', { version: 2, force: true });
      expect(rebuilt).toMatchObject({ generation: 3, outcome: 'switched', resumed: false });
      expect(await world.rows(await world.opened())).toEqual(expected(3, 'approved'));
      expect(await world.generations().dropOld()).toEqual([1, 2]);
    },
  },
  {
    name: 'what a release before was about to let serve when it was killed goes once a later one serves, not before',
    check: async (world) => {
      await world.begin(3);
      expect(await world.rebuild('approved')).toMatchObject({ generation: 2, outcome: 'differs' });
      await madeBefore(world, 2);
      await registered(world, 'switching', 2);
      expect(await world.generations().dropOld()).toEqual([]);
      expect(await world.rebuild('approved', { version: 2, force: true })).toMatchObject({ generation: 3 });
      expect(await world.generations().dropOld()).toEqual([1, 2]);
      expect(await world.states()).toEqual({ 3: 'serving' });
    },
  },
  {
    name: 'what begins to serve while old ones are looked for is not dropped',
    check: async (world) => {
      await world.begin(3);
      expect(await world.rebuild('approved')).toMatchObject({ generation: 2, outcome: 'differs' });
      await registered(world, 'switching', 2);
      const generations = world.generations();
      const list = generations.list.bind(generations);
      generations.list = async () => {
        const all = await list();
        await generations.succeeded(2, 1);
        return all;
      };
      expect(await generations.dropOld()).toEqual([]);
      expect(await world.states()).toEqual({ 1: 'old', 2: 'serving' });
    },
  },
  {
    name: 'a release before that was still building lets nothing serve any more once the next one serves',
    check: async (world) => {
      await world.begin(3);
      const next = async (): Promise<void> => {
        const { outcome } = await world.rebuild('approved', { version: 2, force: true });
        expect(outcome).toBe('switched');
      };
      let begun: Promise<void> | undefined;
      const building = world.rebuild('received', { after: () => (begun ??= next()) });
      await expect(building).rejects.toThrow('a later one serves');
      expect(await world.states()).toEqual({ 1: 'old', 2: 'building', 3: 'serving' });
      expect(await world.rows(await world.opened())).toEqual(expected(3, 'approved'));
      const again = await world.rebuild('approved', { version: 2 });
      expect(again).toMatchObject({ generation: 4, outcome: 'switched', resumed: false });
    },
  },
  {
    name: 'nor what it left before its first batch',
    check: async (world) => {
      await world.begin(3);
      expect(await world.generations().begin()).toEqual({ number: 2, resumed: false });
      await madeBefore(world, 2);
      const rebuilt = await world.rebuild('approved', { version: 2, force: true });
      expect(rebuilt).toMatchObject({ generation: 3, outcome: 'switched', resumed: false });
    },
  },
  {
    name: 'processes of the release before go on in their generation beside the new one, until it is dropped',
    check: async (world) => {
      await world.begin(3);
      const before = await world.generations().open(1);
      await world.rebuild('approved', { version: 2, force: true });
      // They take the first that serves, and write where nothing names a successor.
      const { builder } = world.fixture.service;
      const registered = builder.selectFrom('read_model_generation').selectAll().orderBy('number');
      expect(await world.fixture.service.read(registered)).toEqual([
        { number: 1, state: 'serving' },
        { number: 2, state: 'serving' },
      ]);
      expect(await before.store.apply(projection(1), [write(4, 'received')], at(3), at(4))).toBe(true);
      await before.database.close();
      expect(await world.generations().serving()).toBe(2);
      expect(await world.states()).toEqual({ 1: 'old', 2: 'serving' });
      expect(await world.rebuild('approved', { version: 2, force: true })).toMatchObject({ generation: 3 });
      expect(await world.fixture.service.read(registered)).toMatchObject([
        { number: 1, state: 'serving' },
        { number: 2, state: 'old' },
        { number: 3, state: 'serving' },
      ]);
      expect(await world.generations().dropOld()).toEqual([1, 2]);
    },
  },
];

export const generationsCases: readonly GenerationsCase[] = [...switching, ...comparing, ...releases];
