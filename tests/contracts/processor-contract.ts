import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import { loanStream } from '../../application/command-handling/operation.ts';
import { OutcomeUnknownError, StoreUnavailableError } from '../../application/ports/event-store.ts';
import type { EventSubscription, LogPosition, RecordedEvent } from '../../application/ports/event-store.ts';
import { PoisonEventError } from '../../application/processors/processor.ts';
import type { Commit, Processor, ProcessorStore } from '../../application/processors/processor.ts';
import { Runner } from '../../application/processors/runner.ts';
import { sampleEvent } from './event-store-samples.ts';
import { InMemoryEventStore } from '../support/in-memory-event-store.ts';
import { RecordingLogger } from '../support/recording-logger.ts';

/** A store with what its processor writes for an event. */
export interface StoreUnderTest<W> {
  readonly store: ProcessorStore<W>;
  readonly writeOf: (event: RecordedEvent) => W;
  /** Ids of the events whose writes are stored, as often as they are. */
  readonly stored: () => Promise<readonly string[]>;
}

/** What becomes of a commit: stored, lost on the way, or stored with its answer lost. */
type Fate = 'works' | 'lost' | 'answer_lost';

const withFates = <W>(inner: ProcessorStore<W>, fate: (commit: number) => Fate): ProcessorStore<W> => {
  let commits = 0;
  return {
    load: () => inner.load(),
    commit: async (commit) => {
      const met = fate(commits++);
      if (met === 'lost') throw new StoreUnavailableError('lost on the way');
      const stored = await inner.commit(commit);
      if (met === 'answer_lost') throw new OutcomeUnknownError('the answer was lost');
      return stored;
    },
  };
};

const EVENTS = 12;
const STREAMS = ['A', 'B', 'C'].map((code) => loanStream('app-1', code));
/** Each waits for a millisecond, and on a busy machine for as long as it keeps everything else waiting. */
const LOOKS = 2_000;

const logOf = async (): Promise<InMemoryEventStore & EventSubscription> => {
  const log = new InMemoryEventStore();
  for (let n = 0; n < EVENTS; n += 1) {
    const stream = STREAMS[n % STREAMS.length]!;
    await log.append(stream, await log.head(stream), [{ ...sampleEvent('{}'), id: randomUUID() }]);
  }
  return log;
};

const eventsOf = async (log: InMemoryEventStore, streams = STREAMS): Promise<readonly RecordedEvent[]> =>
  (await Promise.all(streams.map((stream) => log.read(stream)))).flatMap(({ events }) => events);

const until = async (condition: () => boolean | Promise<boolean>): Promise<void> => {
  for (let looks = 0; !(await condition()); looks += 1) {
    if (looks > LOOKS) throw new Error('waited in vain');
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
};

type Handling<W> = Partial<Pick<Processor<W>, 'handle' | 'holding'>>;

const runnerOn = <W>(
  { writeOf }: StoreUnderTest<W>,
  log: EventSubscription,
  store: ProcessorStore<W>,
  handling: Handling<W> = {},
): Runner<W> =>
  new Runner(
    {
      what: 'tested',
      source: log,
      batchSize: 2,
      store,
      handle: (events) => ({ writes: events.map(writeOf) }),
      ...handling,
    },
    { logger: new RecordingLogger(), pause: () => new Promise((resolve) => setImmediate(resolve)) },
  );

const runToTheEnd = async <W>(runner: Runner<W>): Promise<void> => {
  runner.start();
  try {
    await until(() => runner.status().caughtUp);
  } finally {
    await runner.stop();
  }
};

const expectOnce = async <W>(
  { stored, store }: StoreUnderTest<W>,
  log: InMemoryEventStore,
  events?: readonly RecordedEvent[],
): Promise<void> => {
  const ids = (events ?? (await eventsOf(log))).map(({ id }) => id);
  expect((await stored()).toSorted()).toEqual(ids.toSorted());
  expect((await store.load()).place).toBe(await log.end());
};

interface ProcessorCase {
  readonly name: string;
  readonly check: <W>(tested: StoreUnderTest<W>) => Promise<void>;
}

const disturbed = (name: string, fate: (commit: number) => Fate): ProcessorCase => ({
  name,
  check: async (tested) => {
    const log = await logOf();
    await runToTheEnd(runnerOn(tested, log, withFates(tested.store, fate)));
    await expectOnce(tested, log);
  },
});

/** What holds of every store under the runner: each event is written once, however the way there is disturbed. */
export const processorCases: readonly ProcessorCase[] = [
  disturbed('undisturbed', () => 'works'),
  disturbed('every commit lost once before it is stored', (commit) => (commit % 2 === 0 ? 'lost' : 'works')),
  disturbed('every answer lost after the commit', () => 'answer_lost'),
  {
    name: 'the process ending after every commit',
    check: async (tested) => {
      const log = await logOf();
      for (let lives = 0; lives < EVENTS; lives += 1) {
        let commits = 0;
        const dying = withFates(tested.store, () => (commits++ === 0 ? 'works' : 'lost'));
        const runner = runnerOn(tested, log, dying);
        runner.start();
        await until(() => commits > 1 || runner.status().caughtUp);
        await runner.stop();
      }
      await runToTheEnd(runnerOn(tested, log, tested.store));
      await expectOnce(tested, log);
    },
  },
  {
    name: 'two at once',
    check: async (tested) => {
      const log = await logOf();
      await Promise.all([1, 2].map(() => runToTheEnd(runnerOn(tested, log, tested.store))));
      await expectOnce(tested, log);
    },
  },
  {
    name: 'a handler that fails now and then',
    check: async (tested) => {
      const log = await logOf();
      let calls = 0;
      const handle: Processor<never>['handle'] = (events) => {
        if (calls++ % 2 === 0) throw new Error('away');
        return { writes: events.map(tested.writeOf) as never[] };
      };
      await runToTheEnd(runnerOn(tested, log, tested.store, { handle: handle }));
      await expectOnce(tested, log);
    },
  },
  {
    name: 'a stream with an event that cannot be handled waits, also in the next life; the others go on',
    check: async (tested) => {
      const log = await logOf();
      const events = await eventsOf(log);
      const bad = events.find(({ stream, revision }) => stream === STREAMS[1] && revision === 1n)!;
      const handling = {
        holding: { mayWait: () => true, ownerOf: () => '', says: () => 'waits' },
        handle: (batch: readonly RecordedEvent[]) => {
          if (batch.some(({ id }) => id === bad.id)) throw new PoisonEventError(bad, new Error('unreadable'));
          return { writes: batch.map(tested.writeOf) };
        },
      };
      await runToTheEnd(runnerOn(tested, log, tested.store, handling));
      await log.append(bad.stream, await log.head(bad.stream), [{ ...sampleEvent('{}'), id: randomUUID() }]);
      await runToTheEnd(runnerOn(tested, log, tested.store, handling));
      const free = events.filter(({ stream, revision }) => stream !== bad.stream || revision < bad.revision);
      await expectOnce(tested, log, free);
      const [held, ...others] = (await tested.store.load()).held;
      expect(held).toMatchObject({ stream: bad.stream, revision: bad.revision });
      expect(others).toEqual([]);
    },
  },
  {
    name: 'who is behind stores nothing',
    check: async (tested) => {
      const log = await logOf();
      await runToTheEnd(runnerOn(tested, log, tested.store));
      const [first] = await eventsOf(log);
      const late = { from: 'start', to: '@1' as LogPosition, holds: [], live: true } as const;
      const other = { ...first!, id: randomUUID() };
      const commit: Commit<never> = { ...late, writes: [tested.writeOf(other)] as never[] };
      expect(await tested.store.commit(commit)).toBe(false);
      await expectOnce(tested, log);
    },
  },
];
