import { relayToBus } from '../../application/publication/relay.ts';
import type { RelayQuarantine } from '../../application/publication/relay.ts';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { loanStream } from '../../application/command-handling/operation.ts';
import { CHAIN_START, chainEvents, encodeEvent } from '../../application/event-codec/event-codec.ts';
import type {
  EventStore,
  EventSubscription,
  LogPosition,
  RecordedEvent,
} from '../../application/ports/event-store.ts';
import { Runner } from '../../application/processors/runner.ts';
import { PublicEventTranslator } from '../../application/publication/public-events.ts';
import { decodeRecorded } from '../../infrastructure/composition/read-models.ts';
import { EventStoreDbStore } from '../../infrastructure/eventstoredb/event-store-db-store.ts';
import { SqliteEventStore } from '../../infrastructure/sqlite/event-log/sqlite-event-store.ts';
import { pause } from '../../infrastructure/support/time.ts';
import { activated, paid, receiveL1, underpaid } from '../domain/support/loan-story.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { StandInProcess } from '../support/eventstoredb/stand-in-process.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/**
 * A relay that has just taken over publishes the newest event of so many operations, none of which it has seen before; on the stand-in
 * for EventStoreDB, a process of its own, and on the embedded log. What it publishes to takes everything at once, so that the figures
 * are of reading and translating. `node tests/bench/relay-bench.ts [operations]`
 */

const operations = Number(process.argv[2] ?? 3_000);
const APPENDS_AT_ONCE = 32;

type Log = EventStore & EventSubscription & { close(): Promise<void> };
type Translate = (recorded: readonly RecordedEvent[]) => ReturnType<PublicEventTranslator['translate']>;

/** Twelve events an operation, of which the last one is still to be published. */
const story = [
  ...activated,
  ...['001', '002'].map((code) => paid(code)),
  ...Array.from({ length: 5 }, () => underpaid('003', '900.00', '50.00')),
  paid('003'),
];

const stored = (stream: string, saysFund: boolean) => {
  const metadata = {
    correlationId: randomUUID(),
    causationId: randomUUID(),
    actor: 'originator-1',
    applicationId: receiveL1.applicationId,
    recordedAt: '2026-01-15T12:00:00.000Z',
    ...(saysFund && { fundId: receiveL1.fundId }),
  };
  const unchained = story.map((event) => ({ id: randomUUID(), ...encodeEvent(event), metadata }));
  return chainEvents(CHAIN_START, stream, unchained);
};

/** @returns where the relay is to begin */
const fill = async (log: Log, saysFund: boolean): Promise<LogPosition> => {
  const histories = Array.from({ length: operations }, () => {
    const stream = loanStream(receiveL1.applicationId, `OP-${randomUUID()}`);
    return { stream, events: stored(stream, saysFund) };
  });
  const inParallel = async (
    append: (history: (typeof histories)[number]) => Promise<unknown>,
  ): Promise<void> => {
    const left = [...histories];
    const work = async (): Promise<void> => {
      for (let next = left.shift(); next; next = left.shift()) await append(next);
    };
    await Promise.all(Array.from({ length: APPENDS_AT_ONCE }, work));
  };
  await inParallel(({ stream, events }) => log.append(stream, 'no_stream', events.slice(0, -1)));
  const { position } = await log.append(
    `bench-${randomUUID()}`,
    'no_stream',
    stored('bench', false).slice(0, 1),
  );
  await inParallel(({ stream, events }) => log.append(stream, BigInt(events.length - 2), events.slice(-1)));
  return position;
};

const relayed = async (log: Log, from: LogPosition, translate: Translate): Promise<number> => {
  let published = 0;
  const logger = new RecordingLogger();
  const bus = { publish: async (events: readonly unknown[]) => void (published += events.length) };
  const none = {
    list: async () => [],
    release: async () => false,
  } as unknown as RelayQuarantine;
  const checkpoints = { load: async () => from, move: async () => true, list: async () => [] };
  const parts = { subscription: log, checkpoints, quarantine: none, events: log, translator: { translate } };
  const relay = new Runner(relayToBus(parts, bus), { logger, pause });
  const begun = performance.now();
  relay.start();
  while (published < operations) await delay(1);
  const seconds = (performance.now() - begun) / 1_000;
  await relay.stop();
  const trouble = logger.lines.find(({ level }) => level === 'error');
  if (trouble) throw new Error(JSON.stringify(trouble));
  return operations / seconds;
};

const coldTranslator = (log: Log): PublicEventTranslator =>
  new PublicEventTranslator({
    decode: decodeRecorded,
    events: log,
    funds: new Map(),
    apiVersion: 'bench',
  });

const oneByOne = (translator: PublicEventTranslator): Translate => {
  return async (recorded) => {
    const events = [];
    for (const one of recorded) events.push(...(await translator.translate([one])));
    return events;
  };
};

const measure = async (name: string, open: () => Promise<Log>): Promise<void> => {
  const log = await open();
  try {
    const old = await fill(log, false);
    const rows: [string, LogPosition, (translator: PublicEventTranslator) => Translate][] = [
      ['no fund in the metadata, one read after the other', old, oneByOne],
      [
        'no fund in the metadata, several reads at once',
        old,
        (translator) => (events) => translator.translate(events),
      ],
    ];
    const rates: number[] = [];
    for (const [label, from, translate] of rows)
      rates.push(report(label, await relayed(log, from, translate(coldTranslator(log)))));
    const from = await fill(log, true);
    rates.push(
      report(
        'fund in the metadata',
        await relayed(log, from, (events) => coldTranslator(log).translate(events)),
      ),
    );
    const [first = 1, ...others] = rates;
    console.log(
      `${name}: ${others.map((rate) => `${(rate / first).toFixed(1)} times`).join(' and ')} the first row\n`,
    );
  } finally {
    await log.close();
  }
};

const report = (label: string, perSecond: number): number => {
  console.log(`  ${label.padEnd(52)} ${Math.round(perSecond).toLocaleString('en')} events/s`);
  return perSecond;
};

const directory = temporaryDirectory();
const standIn = await StandInProcess.start(join(directory, 'stand-in'));
try {
  console.log(`${operations} operations of ${story.length} events, nothing known of them\n`);
  const logger = new RecordingLogger();
  await measure('EventStoreDB (stand-in)', async () => new EventStoreDbStore({ url: standIn.url, logger }));
  await measure('embedded', () => SqliteEventStore.open(directory, { logger }));
} finally {
  await standIn.kill();
}
