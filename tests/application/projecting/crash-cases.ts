import { expect } from '@jest/globals';
import type { ProjectionStore } from '../../../application/projecting/projection-store.ts';
import type { Projection, Row } from '../../../projections/projection.ts';
import { loanProjection } from '../../../projections/loan/loan-projection.ts';
import { FaultyProjectionStore } from './faulty-projection-store.ts';
import type { BatchFate } from './faulty-projection-store.ts';
import { caughtUp, project, projectorOf } from './running-projector.ts';
import { StoryLog } from './story-log.ts';
import { until } from '../../support/within.ts';

interface RebuildableStore {
  readonly store: ProjectionStore;
  readonly rows: (table: string) => Promise<readonly Row[]>;
  readonly empty: (projection: Projection) => Promise<void>;
}

let told: Promise<StoryLog> | undefined;
/** The same events each time. */
const storyLog = (): Promise<StoryLog> =>
  (told ??= (async () => {
    const log = new StoryLog();
    for (const code of ['A', 'B', 'C']) await log.tellWhole(code);
    return log;
  })());

const byText = (rows: readonly Row[]): readonly string[] => rows.map((row) => JSON.stringify(row)).toSorted();

const everything = async ({ rows }: RebuildableStore): Promise<readonly (readonly string[])[]> =>
  Promise.all(loanProjection.tables.map(async (table) => byText(await rows(table))));

/** Money of the story: 100.00 + 50.00 + 100.00 on each of three operations. */
const expectTheStory = async ({ rows }: RebuildableStore): Promise<void> => {
  const loans = await rows('progress');
  expect(
    loans.map(({ code, received_value, version }) => [code, received_value, version]).toSorted(),
  ).toEqual([
    ['A', 25_000, 6],
    ['B', 25_000, 6],
    ['C', 25_000, 6],
  ]);
};

const interrupted = async (fixture: RebuildableStore, fate: (apply: number) => BatchFate): Promise<void> => {
  await fixture.empty(loanProjection);
  await project(await storyLog(), new FaultyProjectionStore(fixture.store, fate));
};

/** Every way in which building the rows may be disturbed; the rows are the same in the end. */
export const crashCases: readonly {
  readonly name: string;
  readonly check: (fixture: RebuildableStore) => Promise<void>;
}[] = [
  {
    name: 'emptied and built again',
    check: async (fixture) => {
      await interrupted(fixture, () => 'works');
      await expectTheStory(fixture);
      const first = await everything(fixture);
      await interrupted(fixture, () => 'works');
      expect(await everything(fixture)).toEqual(first);
    },
  },
  {
    name: 'every batch lost once before it is stored',
    check: async (fixture) => {
      await interrupted(fixture, () => 'works');
      const undisturbed = await everything(fixture);
      await interrupted(fixture, (apply) => (apply % 2 === 0 ? 'lost' : 'works'));
      expect(await everything(fixture)).toEqual(undisturbed);
    },
  },
  {
    name: 'every answer lost after the batch was stored',
    check: async (fixture) => {
      await interrupted(fixture, () => 'works');
      const undisturbed = await everything(fixture);
      await interrupted(fixture, () => 'answer_lost');
      expect(await everything(fixture)).toEqual(undisturbed);
    },
  },
  {
    name: 'the process ending after every single batch',
    check: async (fixture) => {
      await interrupted(fixture, () => 'works');
      const undisturbed = await everything(fixture);
      await fixture.empty(loanProjection);
      const log = await storyLog();
      for (let lives = 0; lives < 20; lives++) {
        const oneBatch = new FaultyProjectionStore(fixture.store, (apply) =>
          apply === 0 ? 'works' : 'lost',
        );
        const { projector } = projectorOf(log, oneBatch);
        projector.start();
        await until(() => oneBatch.applies > 1 || projector.status().caughtUp, 'it died or was done');
        const done = projector.status().caughtUp;
        await projector.stop();
        if (done) break;
      }
      const { projector } = projectorOf(log, fixture.store);
      projector.start();
      await caughtUp(projector);
      await projector.stop();
      expect(await everything(fixture)).toEqual(undisturbed);
    },
  },
];
