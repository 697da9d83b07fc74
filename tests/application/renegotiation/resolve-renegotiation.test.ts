import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { decodeEvent } from '../../../application/event-codec/event-codec.ts';
import type { JsonText } from '../../../application/ports/event-store.ts';
import { recoverRenegotiations } from '../../../application/renegotiation/followers.ts';
import { sampleMetadata } from '../../contracts/event-store-samples.ts';
import { applicationProcess, context } from '../../support/application-parts.ts';
import { FaultyEventStore, MortalEventStore } from '../../support/faulty-event-store.ts';
import { InMemoryEventStore } from '../../support/in-memory-event-store.ts';
import { MemoryCheckpoints, oneLookAtTheLog } from '../../support/log-followers.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import {
  MemoryDocuments,
  activeLoan,
  command,
  eventsOf,
  pay,
  renegotiation,
  startProcess,
  statusOf,
  streamOf,
} from '../../support/renegotiation-world.ts';
import { receiveL1 } from '../../domain/support/loan-story.ts';
import { LEASE_END, R1, loanCode } from '../../domain/support/renegotiation-story.ts';

const START = '2026-06-20T12:00:00.000Z';
const LEASE_MS = 5_000;
/** start, two reservations, commit */
const [RESERVED, COMMITTED] = [3, 4];

/** The renegotiation of L1 by a process that died with the answer of its n-th append. */
const diedAfter = async (appends: number) => {
  const store = new InMemoryEventStore();
  const documents = new MemoryDocuments();
  const clock = new ManualClock(START);
  await activeLoan(startProcess(store, { documents, clock }), documents, 'L1');
  const mortal = new MortalEventStore(store, appends, 'after');
  void startProcess(mortal, { documents, clock }).renegotiation.renegotiate(context(), renegotiation());
  await mortal.died;
  return { store, documents, clock, process: startProcess(store, { documents, clock }) };
};

describe('a command that meets a reservation', () => {
  test('carries out what is decided, however young the lease', async () => {
    const { process } = await diedAfter(COMMITTED);
    await expect(pay(process.commands, 'L1', '001')).rejects.toMatchObject({
      code: 'operation_invalid_state',
    });
    expect([await statusOf(process, 'L1'), await statusOf(process, 'N1')]).toEqual([
      'renegotiated',
      'received',
    ]);
  });

  const resolving = async (
    { store, clock }: Pick<Awaited<ReturnType<typeof diedAfter>>, 'store' | 'clock'>,
    pauses: number[],
  ) => {
    const pause = async (ms: number): Promise<void> => void pauses.push(ms);
    const process = applicationProcess(store, clock, { pause });
    const { events } = await store.read(streamOf('L1'));
    const reserved = decodeEvent(events.at(-1)!);
    if (reserved.type !== 'LoanReserved') throw new Error('not reserved');
    return { resolving: process.renegotiation.conclusion, id: reserved.renegotiationId };
  };

  test('leaves it while its lease lives', async () => {
    const world = await diedAfter(RESERVED);
    const { resolving: resolve, id } = await resolving(world, []);
    expect(await resolve.attempt(id)).toBe(false);
    expect(await resolve.attempt(id, LEASE_MS - 1)).toBe(false);
    expect(await statusOf(world.process, 'L1')).toBe('reserved');
  });

  test.each(['2026-06-20T11:59:00.000Z', '2026-06-19T12:00:00.000Z', START])(
    'waits no longer than for a whole lease where the clock was set back to %s',
    async (now) => {
      const world = await diedAfter(RESERVED);
      const pauses: number[] = [];
      const clock = new ManualClock(now);
      const { resolving: resolve, id } = await resolving({ ...world, clock }, pauses);
      await resolve.resolve(id);
      const waited = pauses.reduce((sum, ms) => sum + ms, 0);
      expect([waited >= LEASE_MS, waited < LEASE_MS + 300]).toEqual([true, true]);
      expect(await statusOf(world.process, 'L1')).toBe('active');
    },
  );

  test('takes over once the lease is over: the payment is accepted, the code is free', async () => {
    const { process, clock } = await diedAfter(RESERVED);
    clock.advance(LEASE_MS);
    await pay(process.commands, 'L1', '001');
    expect([await statusOf(process, 'L1'), await statusOf(process, 'N1')]).toEqual(['active', 'none']);
  });

  test('also when it is the assignment of the reserved code', async () => {
    const { process, clock } = await diedAfter(RESERVED);
    clock.advance(LEASE_MS);
    await command(process.commands, 'N1', { ...receiveL1, code: loanCode('N1') });
    expect([await statusOf(process, 'L1'), await statusOf(process, 'N1')]).toEqual(['active', 'received']);
  });

  test('also when it is another renegotiation', async () => {
    const { process, clock } = await diedAfter(RESERVED);
    clock.advance(LEASE_MS);
    expect((await process.renegotiation.renegotiate(context(), renegotiation())).replayed).toBe(false);
  });

  test('that two processes take over at once ends once', async () => {
    const { store, documents, clock } = await diedAfter(RESERVED);
    clock.advance(LEASE_MS);
    const processes = ['001', '002', '003'].map((code) => ({
      code,
      ...startProcess(store, { documents, clock }),
    }));
    await Promise.all(processes.map(({ commands, code }) => pay(commands, 'L1', code)));
    const events = await eventsOf(store, streamOf('L1'));
    expect(events.filter(({ type }) => type === 'LoanReservationReleased')).toHaveLength(1);
    expect(events.filter(({ type }) => type === 'InstallmentSettled')).toHaveLength(3);
  });
});

describe('a process that slept through its lease', () => {
  test('cannot commit any more, and does it all over again', async () => {
    const store = new InMemoryEventStore();
    const documents = new MemoryDocuments();
    const clock = new ManualClock(START);
    const slow = startProcess(store, { documents, clock });
    await activeLoan(slow, documents, 'L1');
    const append = store.append.bind(store);
    let paid = false;
    store.append = async (stream, expected, events, claim) => {
      if (events[0]?.type === 'renegotiation.committed.v1' && !paid) {
        paid = true;
        clock.advance(LEASE_MS);
        await pay(startProcess(store, { documents, clock }).commands, 'L1', '001');
      }
      return append(stream, expected, events, claim);
    };
    expect((await slow.renegotiation.renegotiate(context(), renegotiation())).replayed).toBe(false);
    const types = (await eventsOf(store, streamOf('L1'))).map(({ type }) => type).slice(4);
    expect(types).toEqual([
      ...['LoanReserved', 'LoanReservationReleased', 'InstallmentSettled'],
      ...['LoanReserved', 'LoanRenegotiated'],
    ]);
  });
});

describe('the recovery', () => {
  const recover = async (
    { store, clock, process }: Awaited<ReturnType<typeof diedAfter>>,
    checkpoints: MemoryCheckpoints,
  ) => {
    const { subscription, signal } = oneLookAtTheLog(store);
    const logger = new RecordingLogger();
    const slept: number[] = [];
    const sleep = (ms: number): Promise<void> => {
      slept.push(ms);
      clock.advance(ms);
      return Promise.resolve();
    };
    await recoverRenegotiations({
      conclusion: process.renegotiation.conclusion,
      subscription,
      checkpoints,
      realClock: clock,
      logger,
      sleep,
    }).run(signal);
    return { slept, lines: logger.lines };
  };

  test('waits for the end of the lease, and no longer', async () => {
    const world = await diedAfter(RESERVED);
    expect((await recover(world, new MemoryCheckpoints())).slept).toEqual([LEASE_MS]);
    expect(await statusOf(world.process, 'L1')).toBe('active');
  });

  test('notes in the coordinator that a commit is carried out', async () => {
    const world = await diedAfter(COMMITTED);
    await recover(world, new MemoryCheckpoints());
    const [reserved] = (await eventsOf(world.store, streamOf('N1'))).filter(
      ({ type }) => type === 'LoanReserved',
    );
    if (reserved?.type !== 'LoanReserved') throw new Error('nothing reserved');
    const coordinator = await eventsOf(world.store, `renegotiation-${reserved.renegotiationId}`);
    expect(coordinator.map(({ type }) => type)).toEqual([
      ...['RenegotiationStarted', 'RenegotiationCommitted', 'RenegotiationCompleted'],
    ]);
  });

  test('leaves what it cannot read as it is, with a line in the log, and sees to the others', async () => {
    const world = await diedAfter(COMMITTED);
    const unreadable = async (stream: string, type: string): Promise<void> => {
      const event = { id: randomUUID(), type, data: '{}' as JsonText, metadata: sampleMetadata() };
      await world.store.append(stream, await world.store.head(stream), [event]);
    };
    await unreadable('renegotiation-unreadable', 'renegotiation.started.v1');
    const later = { renegotiationId: R1, leaseEndsAt: LEASE_END, code: loanCode('Y') };
    await command(world.process.commands, 'Y', { type: 'ReserveLoanCode', ...later });
    await unreadable(`renegotiation-${R1}`, 'renegotiation.started.v2');
    const { lines } = await recover(world, new MemoryCheckpoints());
    expect(await statusOf(world.process, 'N1')).toBe('received');
    expect(lines.filter(({ level }) => level === 'error')).toMatchObject([
      { fields: { stream: 'renegotiation-unreadable' } },
      { fields: { stream: `renegotiation-${R1}` } },
    ]);
  });

  test('reports a reservation whose renegotiation does not exist, and sees to the others', async () => {
    const world = await diedAfter(COMMITTED);
    await command(world.process.commands, 'X', {
      type: 'ReserveLoanCode',
      renegotiationId: R1,
      code: loanCode('X'),
      leaseEndsAt: LEASE_END,
    });
    const { lines } = await recover(world, new MemoryCheckpoints());
    expect(lines).toMatchObject([{ level: 'error', fields: { stream: `renegotiation-${R1}` } }]);
    expect(await statusOf(world.process, 'N1')).toBe('received');
  });

  test('goes on from its checkpoint, and tries again what a store without strength refused', async () => {
    const world = await diedAfter(COMMITTED);
    const checkpoints = new MemoryCheckpoints();
    const shaky = startProcess(new FaultyEventStore(world.store, ['works', 'refused']), {
      clock: world.clock,
    });
    const { lines } = await recover({ ...world, process: shaky }, checkpoints);
    expect(lines.map(({ level }) => level)).toEqual(['error', 'info']);
    expect(await statusOf(world.process, 'N1')).toBe('received');
    const before = (await world.store.read(streamOf('L1'))).events.length;
    expect((await recover(world, checkpoints)).slept).toEqual([]);
    expect((await world.store.read(streamOf('L1'))).events).toHaveLength(before);
  });
});
