import { numberOf } from '../../../../application/projecting/projected-event.ts';
import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Difference } from '../../../../application/audit/difference.ts';
import type { JsonText, LogPosition, RecordedEvent } from '../../../../application/ports/event-store.ts';
import type { SealHead } from '../../../../application/audit/seals/seal-book.ts';
import { SealCheck } from '../../../../application/audit/seals/check-seals.ts';
import type { SealPlace } from '../../../../application/audit/seals/check-seals.ts';
import {
  BrokenSealBookError,
  SealLog,
  headOf,
  macOfRecord,
} from '../../../../application/audit/seals/seal-log.ts';
import type { SealMac } from '../../../../application/audit/seals/seal-log.ts';
import { SqlSealBook } from '../../../../application/audit/seals/seal-book.ts';
import { openServiceDatabase, query, raw } from '../../../support/sql/temporary-database.ts';
import { InMemoryEventStore } from '../../../support/in-memory-event-store.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { RecordingLogger } from '../../../support/recording-logger.ts';
import { until } from '../../../support/within.ts';

/** A log whose events can be changed behind its back. */
class OpenLog extends InMemoryEventStore {
  get events(): RecordedEvent[] {
    return this.log;
  }

  /** In one append: who follows gets them together. */
  async add(stream: string, count: number): Promise<void> {
    const at = await this.head(stream);
    const first = at === 'no_stream' ? 0n : at + 1n;
    const events = Array.from({ length: count }, (_, i) => {
      const id = `${stream}-${first + BigInt(i)}`;
      const who = { correlationId: '', causationId: '', actor: '', applicationId: '', recordedAt: '' };
      return { id, type: 't', data: '{}' as JsonText, metadata: { ...who, hash: id } };
    });
    await this.append(stream, at, events);
  }
}

const macWith =
  (key: string): SealMac =>
  (text) =>
    createHmac('sha256', key).update(text).digest('hex');

let database: Awaited<ReturnType<typeof openServiceDatabase>>;
let log: OpenLog;
let key: SealMac | undefined;
beforeEach(async () => {
  database = await openServiceDatabase({ writes: 'here' });
  log = new OpenLog();
  key = undefined;
});
afterEach(() => database.close());

const keys = { find: async () => key, make: async () => (key ??= macWith('ours')) };
const clock = new ManualClock();
const book = () => new SqlSealBook(database.database);

/** Its pauses end when the test says so. */
const sealer = (of = 'embedded', its = book()) => {
  const pauses: (() => void)[] = [];
  const logger = new RecordingLogger();
  const sleep = (_ms: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve();
      pauses.push(resolve);
      signal.addEventListener('abort', () => resolve());
    });
  const sealing = new SealLog({ subscription: log, book: its, keys, log: of, clock, logger, sleep });
  const isWaiting = async (): Promise<boolean> => pauses.length > 0;
  return { sealing, logger, isWaiting, tick: () => pauses.splice(0).forEach((end) => end()) };
};

const records = () =>
  database.database.read(
    query<{ number: number; kind: string; events: number; total: number }>(
      'select number, kind, events, total from log_seal order by number',
    ),
  );
const shortRecords = async () => (await records()).map((one) => `${one.kind} ${one.events}/${one.total}`);

const check = async (anchor?: SealPlace) => {
  const differences: Difference[] = [];
  const report = (difference: Difference): void => void differences.push(difference);
  const checking = new SealCheck({ book: book(), keys, numberOf, report }, anchor);
  await checking.start();
  for (let at = 0; at < log.events.length; at += 3) await checking.meet(log.events.slice(at, at + 3));
  await checking.end();
  const { found: asFound, ...coverage } = checking.coverage;
  return { ...coverage, asFound, found: differences.map(({ kind, what }) => `${kind}: ${what}`) };
};

/** Stops after so many events, and another check goes on from where the first one says. */
const checkInTwo = async (stop: number) => {
  const differences: Difference[] = [];
  const report = (difference: Difference): void => void differences.push(difference);
  const first = new SealCheck({ book: book(), keys, numberOf, report }, undefined);
  await first.start();
  await first.meet(log.events.slice(0, stop));
  const second = new SealCheck({ book: book(), keys, numberOf, report }, undefined);
  const { progress } = first;
  await second.start(progress);
  const behind = log.events.filter(({ position }) => numberOf(position) > numberOf(progress.after));
  await second.meet(behind);
  await second.end();
  const { found: asFound, ...coverage } = second.coverage;
  return { ...coverage, asFound, found: differences.map(({ kind, what }) => `${kind}: ${what}`) };
};

const sealedAt = clock.now();
const ofSeal = (number: number, after: string, through: string): string =>
  `seal: seal ${number} of ${sealedAt}: events after ${after} through ${through}`;

describe('a check that is stopped', () => {
  test('goes on from the last seal that it had compared, and finds what one without a stop finds', async () => {
    await log.add('loan-a.1', 4);
    await sealer().sealing.sealNow();
    await log.add('loan-a.2', 3);
    await sealer().sealing.sealNow();
    await log.add('loan-a.1', 2);
    const metadata = { ...log.events[5]!.metadata, hash: 'changed' };
    log.events[5] = { ...log.events[5]!, metadata };
    const whole = await check();
    expect(whole).toMatchObject({ sealed: 7, unsealed: 2 });
    expect(whole.found).toHaveLength(1);
    for (let stop = 0; stop <= log.events.length; stop++) expect(await checkInTwo(stop)).toEqual(whole);
  });
});

describe('sealing', () => {
  test('begins with what is there, says so, and goes on with what comes, a few seconds at a time', async () => {
    await log.add('loan-a.1', 4);
    const { sealing, isWaiting, tick } = sealer();
    const stop = new AbortController();
    const running = sealing.run(stop.signal);
    await until(async () => (await records()).length === 2);
    expect(await shortRecords()).toEqual(['begin 0/0', 'found 4/4']);
    tick();
    await log.add('loan-a.2', 3);
    await until(isWaiting);
    expect((await records()).length).toBe(2);
    tick();
    await until(async () => (await records()).length === 3);
    await log.add('loan-a.1', 2);
    await until(isWaiting);
    stop.abort();
    await running;
    expect(await shortRecords()).toEqual(['begin 0/0', 'found 4/4', 'live 3/7', 'live 2/9']);
    expect(await check()).toEqual({ found: [], sealed: 9, asFound: 4, unsealed: 0, since: sealedAt });
  });

  test('is done by two at once without a gap, a repetition or an error in the log', async () => {
    const both = [sealer(), sealer()];
    const stop = new AbortController();
    const running = both.map(({ sealing }) => sealing.run(stop.signal));
    for (let i = 0; i < 30; i += 1) {
      await log.add(`loan-a.${i % 4}`, 2);
      for (const { tick } of both) tick();
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await until(async () => {
      for (const { tick } of both) tick();
      return (await records()).at(-1)?.total === 60;
    });
    stop.abort();
    await Promise.all(running);
    expect(both.flatMap(({ logger }) => logger.lines.filter(({ level }) => level === 'error'))).toEqual([]);
    expect((await check()).found).toEqual([]);
  });

  test.each(['before', 'after'])(
    'begins %s another process asked for the end of a book that has none',
    async (when) => {
      await log.add('loan-a.1', 3);
      const mine = book();
      let asked = 0;
      const head = async (): Promise<SealHead | undefined> => {
        if (asked++ > 0) return mine.head();
        if (when === 'before') await sealer().sealing.sealNow();
        const end = await mine.head();
        if (when === 'after') await sealer().sealing.sealNow();
        return end;
      };
      const other = Object.assign(book(), { head });
      await sealer('embedded', other).sealing.sealNow();
      expect(await shortRecords()).toEqual(['begin 0/0', 'found 3/3']);
    },
  );

  test('covers a log that was moved to another engine from its beginning, and keeps the seals of before', async () => {
    await log.add('loan-a.1', 3);
    const before = await sealer().sealing.sealNow();
    await log.add('loan-a.1', 2);
    await sealer('eventstoredb').sealing.sealNow();
    expect(await shortRecords()).toEqual(['begin 0/0', 'found 3/3', 'begin 0/0', 'found 5/5']);
    expect(await check(before)).toMatchObject({ found: [], sealed: 5, unsealed: 0 });
  });

  test.each(['events = 2', `mac = 'x'`, `through = '2/2'`, `through = 'nowhere'`])(
    'does not go on behind an end that is not its own: %s',
    async (change) => {
      await log.add('loan-a.1', 3);
      await sealer().sealing.sealNow();
      await database.database.transaction([raw(`update log_seal set ${change} where number = 2`)]);
      await expect(sealer().sealing.sealNow()).rejects.toThrow(BrokenSealBookError);
    },
  );
});

describe('a sealed log', () => {
  beforeEach(async () => {
    await log.add('loan-a.1', 3);
    await sealer().sealing.sealNow();
    await log.add('loan-a.2', 3);
    await sealer().sealing.sealNow();
    await log.add('loan-a.1', 3);
    await sealer().sealing.sealNow();
    await log.add('loan-a.3', 1);
  });

  test('is as it was', async () => {
    expect(await check()).toMatchObject({ found: [], sealed: 9, unsealed: 1, since: sealedAt });
  });

  test.each<readonly [string, () => void, readonly string[]]>([
    ['an event in the middle was removed', () => log.events.splice(4, 1), [ofSeal(3, '3/3', '6/6')]],
    ['the last event of a stretch was removed', () => log.events.splice(5, 1), [ofSeal(3, '3/3', '6/6')]],
    ['a whole stretch was removed', () => log.events.splice(3, 3), [ofSeal(3, '3/3', '6/6')]],
    ['the end was cut off', () => log.events.splice(7), [ofSeal(4, '6/6', '9/9')]],
    ['two events changed places', () => swap(3, 4), [ofSeal(3, '3/3', '6/6')]],
    ['an event was written anew', () => rewrite(1), [ofSeal(2, 'start', '3/3')]],
    [
      'an event was slipped in',
      () => log.events.splice(4, 0, { ...log.events[9]!, position: '4/4' as LogPosition }),
      [ofSeal(3, '3/3', '6/6')],
    ],
    [
      'all of it was removed',
      () => log.events.splice(0),
      [ofSeal(2, 'start', '3/3'), ofSeal(3, '3/3', '6/6'), ofSeal(4, '6/6', '9/9')],
    ],
  ])('is found out when %s', async (_label, change, expected) => {
    change();
    expect((await check()).found).toEqual(expected);
  });

  const swap = (one: number, other: number): void => {
    const [a, b] = [log.events[one]!, log.events[other]!];
    log.events[one] = { ...b, position: a.position };
    log.events[other] = { ...a, position: b.position };
  };
  const rewrite = (at: number): void => {
    const event = log.events[at]!;
    log.events[at] = { ...event, metadata: { ...event.metadata, hash: 'another' } };
  };

  test.each([
    ['one in the middle is gone', 'delete from log_seal where number = 3', ['seal: seal 3']],
    ['the last ones are gone', 'delete from log_seal where number > 2', ['seal: the end of the seal book']],
    ['one was changed', 'update log_seal set total = 7 where number = 3', [`seal: seal 3 of ${sealedAt}`]],
    [
      'one names no place',
      `update log_seal set through = 'nowhere' where number = 3`,
      [`seal: seal 3 of ${sealedAt}`, ofSeal(3, '3/3', '3/3'), ofSeal(4, '3/3', '9/9')],
    ],
    ['the head is gone', 'delete from log_seal_head', ['seal: the end of the seal book']],
    ['the head was moved back', `update log_seal_head set number = 3`, ['seal: the end of the seal book']],
  ])('is found out when of its seals %s', async (_label, statement, expected) => {
    await database.database.transaction([raw(statement)]);
    const { found } = await check();
    expect(found).toEqual(expect.arrayContaining(expected));
  });

  test('is found out when its seals were made anew with another key', async () => {
    const forger = macWith('theirs');
    const store = book();
    const all = await store.page(0, 10);
    await database.database.transaction([raw('delete from log_seal'), raw('delete from log_seal_head')]);
    let previous = '';
    for (const record of all) {
      const forged = { ...record, mac: macOfRecord(forger, previous, record) };
      expect(await store.add(forged, headOf(forger, forged))).toBe(true);
      previous = forged.mac;
    }
    expect((await check()).found).toEqual([
      ...[1, 2, 3, 4].map((number) => `seal: seal ${number} of ${sealedAt}`),
      'seal: the end of the seal book',
    ]);
  });

  test('that was put back together with its seals is found out by a place that was written down, and by nothing else', async () => {
    const store = book();
    const [all, later] = [await store.page(0, 10), await store.head()];
    await database.database.transaction([raw('delete from log_seal'), raw('delete from log_seal_head')]);
    for (const record of all.slice(0, 2)) await store.add(record, headOf(key!, record));
    log.events.splice(3);
    expect((await check()).found).toEqual([]);
    expect((await check(later)).found).toEqual(['anchor: seal 4']);
    await log.add('loan-a.9', 6);
    await sealer().sealing.sealNow();
    await log.add('loan-a.9', 1);
    await sealer().sealing.sealNow();
    expect((await check()).found).toEqual([]);
    expect((await check(later)).found).toEqual(['anchor: seal 4']);
  });

  test('without seals says that nothing is sealed', async () => {
    await database.database.transaction([raw('delete from log_seal'), raw('delete from log_seal_head')]);
    expect((await check()).found).toEqual(['seal: the end of the seal book']);
    key = undefined;
    expect(await check()).toMatchObject({ found: [], sealed: 0, since: null, unsealed: 10 });
  });
});
