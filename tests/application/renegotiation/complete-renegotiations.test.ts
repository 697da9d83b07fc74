import { describe, expect, test } from '@jest/globals';
import { CompleteRenegotiations } from '../../../application/renegotiation/followers.ts';
import { PublicEventTranslator } from '../../../application/publication/public-events.ts';
import { decodeLoanEvent } from '../../../application/event-codec/event-codec.ts';
import type { Following } from '../../../application/processors/acting.ts';
import type { EventSubscription, RecordedEvent } from '../../../application/ports/event-store.ts';
import { FUND, NOW, context } from '../../support/application-parts.ts';
import { FaultyEventStore, unreadable } from '../../support/faulty-event-store.ts';
import { InMemoryEventStore } from '../../support/in-memory-event-store.ts';
import { MemoryCheckpoints, oneLookAtTheLog } from '../../support/log-followers.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import {
  MemoryDocuments,
  activation,
  activeLoan,
  ana,
  command,
  eventsOf,
  newProposal,
  renegotiation,
  startProcess,
  streamOf,
} from '../../support/renegotiation-world.ts';
import type { Process } from '../../support/renegotiation-world.ts';

const input = renegotiation(['L1', 'L2'], { newProposal: newProposal({ documents: [], borrower: ana }) });

const world = async () => {
  const store = new InMemoryEventStore();
  const documents = new MemoryDocuments();
  const process = startProcess(store, { documents });
  for (const code of ['L1', 'L2']) await activeLoan(process, documents, code);
  await process.renegotiation.renegotiate(context(), input);
  return { store, process };
};
const completing = (
  events: InMemoryEventStore,
  commands: Process['commands'],
  following: Omit<Following, 'sleep'>,
) => new CompleteRenegotiations({ commands, events, ...following, sleep: () => Promise.resolve() });
const follow = async (
  store: InMemoryEventStore,
  { commands }: Process,
  checkpoints = new MemoryCheckpoints(),
) => {
  const { subscription, signal } = oneLookAtTheLog(store);
  const logger = new RecordingLogger();
  await completing(store, commands, { subscription, checkpoints, logger }).run(signal);
  return logger.lines;
};
const ofLater =
  (stream: string) =>
  (event: RecordedEvent): RecordedEvent =>
    event.stream === stream ? { ...event, data: '{}' as never } : event;
const completions = async (store: InMemoryEventStore, code: string) =>
  (await eventsOf(store, streamOf(code))).filter(({ type }) => type === 'LoanRenegotiationCompleted');
const activate = async ({ commands }: Process): Promise<void> => {
  for (const step of activation) await command(commands, 'N1', step);
};

describe('the end of a renegotiation', () => {
  test('every original hears of it once, when the new operation is active, and not before', async () => {
    const { store, process } = await world();
    await follow(store, process);
    expect(await completions(store, 'L1')).toEqual([]);
    await activate(process);
    await follow(store, process);
    for (const code of ['L1', 'L2'])
      expect(await completions(store, code)).toMatchObject([{ completedAt: NOW }]);
  });

  test('a second look, from the start or from the checkpoint, adds nothing', async () => {
    const { store, process } = await world();
    await activate(process);
    const checkpoints = new MemoryCheckpoints();
    for (let i = 0; i < 2; i++) await follow(store, process, checkpoints);
    expect(await follow(store, process)).toEqual([]);
    expect(await completions(store, 'L1')).toHaveLength(1);
  });

  test('a store that fails in between is tried again until it is told to all', async () => {
    const { store, process } = await world();
    await activate(process);
    const shaky = startProcess(new FaultyEventStore(store, ['works', 'refused']));
    const lines = await follow(store, shaky);
    expect(lines.map(({ level }) => level)).toEqual(['error', 'info']);
    for (const code of ['L1', 'L2']) expect(await completions(store, code)).toHaveLength(1);
  });

  test.each<[string, string, readonly string[]]>([
    ['an original that cannot be read', 'L1', ['L2']],
    ['a new operation whose disbursement cannot be read', 'N1', []],
  ])('%s keeps no other waiting, and is told once it can be read', async (_, damaged, told) => {
    const { store, process } = await world();
    await activate(process);
    const stream = streamOf(damaged);
    const { subscription, signal } = oneLookAtTheLog(store);
    const later: EventSubscription = {
      async *subscribe(options) {
        for await (const message of subscription.subscribe(options))
          yield message.kind === 'events'
            ? { ...message, events: message.events.map(ofLater(stream)) }
            : message;
      },
    };
    const logger = new RecordingLogger();
    const { commands } = startProcess(unreadable(store, stream));
    const checkpoints = new MemoryCheckpoints();
    await completing(store, commands, { subscription: later, checkpoints, logger }).run(signal);
    const named = new Set(
      logger.lines.map(({ level, fields }) => [level, (fields as { stream: string }).stream].join()),
    );
    expect(named).toEqual(new Set([`error,${stream}`]));
    const of = async () =>
      (await Promise.all(['L1', 'L2'].map((code) => completions(store, code)))).map(({ length }) => length);
    expect(await of()).toEqual(['L1', 'L2'].map((code) => Number(told.includes(code))));
    const released = completing(store, process.commands, { subscription, checkpoints, logger });
    for (let i = 0; i < 2; i++) await released.resume(stream);
    expect(await of()).toEqual([1, 1]);
  });

  test('is published once per original, and reservations never are', async () => {
    const { store, process } = await world();
    await activate(process);
    await follow(store, process);
    const translator = new PublicEventTranslator({
      decode: decodeLoanEvent,
      events: store,
      funds: new Map(),
      apiVersion: '2026.1.0',
    });
    const published = await Promise.all(
      ['L1', 'L2', 'N1'].map(async (code) => translator.translate((await store.read(streamOf(code))).events)),
    );
    const names = published.map((events) => events.map(({ name }) => name));
    const cession = ['loan_received', 'loan_approved', 'loan_term_signed', 'disbursement_completed'];
    expect(names).toEqual([
      [...cession, 'renegotiation_completed'],
      [...cession, 'renegotiation_completed'],
      cession,
    ]);
    const last = published[0]!.at(-1)!;
    expect(last.fundId).toBe(FUND);
    expect(JSON.parse(last.body).data).toEqual({
      original_proposal_codes: ['L1', 'L2'],
      new_proposal_code: 'N1',
      effective_date: '2026-06-20',
      completed_at: NOW,
    });
  });
});
