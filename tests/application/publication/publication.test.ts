import { expect, test } from '@jest/globals';
import { Publication } from '../../../application/publication/publication.ts';
import { decodeLoanEvent } from '../../../application/event-codec/event-codec.ts';
import { loanDecider } from '../../../domain/loan/decider.ts';
import type { LoanCommand } from '../../../domain/loan/commands.ts';
import { receiveL1 } from '../../domain/support/loan-story.ts';
import { commandHandler } from '../../support/application-parts.ts';
import { InMemoryEventStore } from '../../support/in-memory-event-store.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';

test('the fund of an operation is looked up once for all that is published of it', async () => {
  const store = new InMemoryEventStore();
  const clock = new ManualClock();
  const { applicationId, code } = receiveL1;
  const stream = `loan-${applicationId}.${code}`;
  const approve: LoanCommand = { type: 'ApproveLoan', now: clock.now() };
  for (const command of [receiveL1, approve])
    await commandHandler(store, clock).handle({
      ...{ stream, applicationId, actor: 'client-1', correlationId: 'req' },
      decide: (state) => loanDecider.decide(command, state),
    });
  const [received, approved] = (await store.read(stream)).events.map(
    ({ metadata: { fundId: _, ...before }, ...event }) => ({
      ...event,
      metadata: before,
    }),
  );
  let reads = 0;
  const publication = new Publication({
    log: {
      at: async () => approved,
      byId: async () => approved,
      subscribe: async function* () {
        yield { kind: 'events', events: [approved!], checkpoint: approved!.position };
        yield { kind: 'caught_up' };
      },
    },
    events: Object.assign(Object.create(store) as InMemoryEventStore, {
      read: async () => ((reads += 1), { events: [received!, approved!], revision: 1n }),
    }),
    ...{ decode: decodeLoanEvent, apiVersion: '2026.6.0', cacheBytes: 100_000 },
    ...{ logger: new RecordingLogger(), written: async () => undefined, sleep: async () => undefined },
    ...{ readModel: {} as never, checkpoints: {} as never, quarantine: {} as never },
    topics: () => Promise.reject(new Error('none')),
  });
  const streamed = publication.stream({ follow: false }, new AbortController().signal);
  for await (const { event } of streamed) expect(event.fundId).toBe(receiveL1.fundId);
  expect((await publication.find(applicationId, approved!.id))?.fundId).toBe(receiveL1.fundId);
  expect(reads).toBe(1);
});
