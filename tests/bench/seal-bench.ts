/** What sealing, and checking seals, costs an event in processor time. `node tests/bench/seal-bench.ts [events]` */
import { createHash, createHmac } from 'node:crypto';
import type { LogPosition, RecordedEvent, SubscriptionMessage } from '../../application/ports/event-store.ts';
import { SqlSealBook } from '../../application/audit/seals/seal-book.ts';
import type { SealHead, SealRecord } from '../../application/audit/seals/seal-book.ts';
import { SealCheck } from '../../application/audit/seals/check-seals.ts';
import { SealLog } from '../../application/audit/seals/seal-log.ts';
import { SystemClock } from '../../infrastructure/support/time.ts';
import { RecordingLogger } from '../support/recording-logger.ts';

const wanted = Number(process.argv[2] ?? 200_000);
const BATCH = 500;
const ROUNDS = 3;

const events = Array.from({ length: wanted }, (_, i) => ({
  stream: `loan-0b7f6f1c-2a10-4b8e-9d64-3f0c1e528a44.OP-${Math.floor(i / 7)}`,
  revision: BigInt(i % 7),
  position: String(i + 1) as LogPosition,
  metadata: { hash: createHash('sha256').update(String(i)).digest('hex') },
})) as unknown as readonly RecordedEvent[];

async function* subscribe(): AsyncGenerator<SubscriptionMessage> {
  for (let at = 0; at < wanted; at += BATCH) {
    const some = events.slice(at, at + BATCH);
    yield { kind: 'events', events: some, checkpoint: some.at(-1)!.position };
  }
  yield { kind: 'caught_up' };
}

const bookInMemory = (): SqlSealBook => {
  const records: SealRecord[] = [];
  let end: SealHead | undefined;
  return Object.assign(Object.create(SqlSealBook.prototype) as SqlSealBook, {
    head: async () => end,
    page: async (after: number, limit: number) => records.slice(after, after + limit),
    lastBegin: async () => 1,
    add: async (record: SealRecord, head: SealHead) => {
      records.push(record);
      end = head;
      return true;
    },
  });
};

const mac = (text: string): string => createHmac('sha256', 'key').update(text).digest('hex');
const keys = { find: async () => mac, make: async () => mac };

const microsecondsAnEvent = async (work: () => Promise<unknown>): Promise<string> => {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return ((user + system) / wanted).toFixed(2);
};

for (let round = 0; round < ROUNDS; round += 1) {
  const book = bookInMemory();
  const clock = new SystemClock();
  const deps = {
    subscription: { subscribe },
    book,
    keys,
    log: 'embedded',
    clock,
    logger: new RecordingLogger(),
  };
  const sealed = await microsecondsAnEvent(() =>
    new SealLog({ ...deps, sleep: async () => undefined }).sealNow(),
  );
  const numberOf = (position: LogPosition | 'start'): bigint =>
    position === 'start' ? 0n : BigInt(position);
  const check = new SealCheck({ book, keys, numberOf, report: console.log }, undefined);
  const checked = await microsecondsAnEvent(async () => {
    await check.start();
    for (let at = 0; at < wanted; at += BATCH) await check.meet(events.slice(at, at + BATCH));
    await check.end();
  });
  console.log(`${check.coverage.sealed} events: sealed in ${sealed} µs each, checked in ${checked} µs each`);
}
