import { expect, test } from '@jest/globals';
import { StoreUnavailableError } from '../../../application/ports/event-store.ts';
import type { Place } from '../../../application/processors/processor.ts';
import { Runner } from '../../../application/processors/runner.ts';
import { sampleEvent } from '../../contracts/event-store-samples.ts';
import { InMemoryEventStore } from '../../support/in-memory-event-store.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';

const GATHER_MS = 5_001;

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));

test('what is gathered and cannot be stored is one outage, tried again less and less often', async () => {
  const log = new InMemoryEventStore();
  const { position } = await log.append('loan-a.1', 'no_stream', [sampleEvent('{}')]);
  const logger = new RecordingLogger();
  const stop = new AbortController();
  const pauses: number[] = [];
  let place: Place = 'start';
  const runner = new Runner<string>(
    {
      what: 'gathering',
      source: log,
      gather: { ms: GATHER_MS, events: 100 },
      handle: () => ({ writes: ['one'], mayWait: true }),
      store: {
        load: async () => ({ place, held: [] }),
        commit: async ({ to }) => {
          if (pauses.length < 6) throw new StoreUnavailableError('no room');
          place = to;
          stop.abort();
          return true;
        },
      },
    },
    { logger, pause: async (ms, signal) => (ms === GATHER_MS ? aborted(signal) : void pauses.push(ms)) },
  );
  await runner.run(stop.signal);
  expect(place).toBe(position);
  expect(pauses).toEqual([100, 200, 400, 800, 1_600, 3_200]);
  expect(logger.lines.filter(({ level }) => level !== 'debug').map(({ message }) => message)).toEqual([
    'gathering: failed; trying again until it works',
    'gathering: works again',
  ]);
});
