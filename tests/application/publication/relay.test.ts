import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { loanStream } from '../../../application/command-handling/operation.ts';
import { UnreadableEventError } from '../../../application/event-codec/fields.ts';
import { SqlCheckpointStore } from '../../../application/coordination/stored-places.ts';
import { MessageTooLargeError } from '../../../application/ports/event-bus.ts';
import type { EventBus, PublicEvent } from '../../../application/ports/event-bus.ts';
import { RelayQuarantine, RELAY_CHECKPOINT, relayToBus } from '../../../application/publication/relay.ts';
import type { LogPosition, RecordedEvent } from '../../../application/ports/event-store.ts';
import { PublicEventTranslator, READS_AT_ONCE } from '../../../application/publication/public-events.ts';
import { LOOK_FOR_RELEASES_MS, Runner } from '../../../application/processors/runner.ts';
import type { LoanEvent } from '../../../domain/loan/events.ts';
import { pause } from '../../../infrastructure/support/time.ts';
import { sampleEvent, sampleMetadata } from '../../contracts/event-store-samples.ts';
import { InMemoryEventStore } from '../../support/in-memory-event-store.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import { openServiceDatabase, raw } from '../../support/sql/temporary-database.ts';
import type { TemporaryDatabase } from '../../support/sql/temporary-database.ts';
import { until } from '../../support/within.ts';

const FUND = '6d1c1a54-6a3e-4f5e-8f6a-0d5d9b0a2c33';
const STREAM = loanStream('app-1', 'OP/1'.replace('/', '.'));

let temporary: TemporaryDatabase;
beforeAll(async () => void (temporary = await openServiceDatabase()));
afterAll(() => temporary.close());
beforeEach(() =>
  temporary.database.transaction([raw('delete from checkpoint'), raw('delete from relay_quarantine')]),
);

class Positions extends SqlCheckpointStore {
  readonly stored: LogPosition[] = [];
  constructor() {
    super(temporary.database, new ManualClock());
  }
  override async move(...move: Parameters<SqlCheckpointStore['move']>): Promise<boolean> {
    const moved = await super.move(...move);
    if (moved) this.stored.push(move[2] as LogPosition);
    return moved;
  }
}

class Bus implements EventBus {
  readonly taken: PublicEvent[] = [];
  refuse: () => boolean = () => false;
  isTooLarge: (event: PublicEvent) => boolean = () => false;
  async publish(events: readonly PublicEvent[]): Promise<void> {
    if (this.refuse()) throw new Error('bus away');
    if (events.some(this.isTooLarge)) throw new MessageTooLargeError('more than the broker takes');
    this.taken.push(...events);
  }
  consume(): Promise<void> {
    return Promise.resolve();
  }
  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** Events whose data is the domain event itself, so that this test needs no codec. */
const decode = ({ data }: RecordedEvent): LoanEvent | undefined => JSON.parse(data) as LoanEvent;
const stored = (event: object, recordedAt = '2026-06-20T12:00:00.000Z') => ({
  ...sampleEvent(JSON.stringify(event)),
  metadata: sampleMetadata({ applicationId: 'app-1', recordedAt }),
});
const received = () =>
  stored({ type: 'LoanReceived', fundId: FUND, acquisitionValue: 100, installments: [], receivedAt: 'r' });
const approved = () => stored({ type: 'LoanApproved', approvedAt: 'a' });
const overdue = () => stored({ type: 'InstallmentBecameOverdue' });

const running: Runner<never>[] = [];
afterEach(async () => {
  for (const relay of running.splice(0)) await relay.stop();
});

const relayOver = (
  store: InMemoryEventStore,
  positions: Positions,
  bus: Bus,
  decoding: (recorded: RecordedEvent) => LoanEvent | undefined = decode,
) => {
  const logger = new RecordingLogger();
  const pauses: number[] = [];
  const translator = new PublicEventTranslator({
    decode: decoding,
    events: store,
    funds: new Map<string, string>(),
    apiVersion: '2026.1.0',
  });
  const parts = {
    ...{ subscription: store, checkpoints: positions, events: store, translator },
    quarantine: new RelayQuarantine(temporary.database),
  };
  const relay = new Runner(relayToBus(parts, bus), {
    logger,
    pause: async (ms, signal) => {
      if (ms === LOOK_FOR_RELEASES_MS) return pause(5, signal);
      pauses.push(ms);
      await new Promise((resolve) => setImmediate(resolve));
    },
  });
  running.push(relay);
  relay.start();
  return { relay, logger, pauses };
};

describe('the relay', () => {
  test('carries every stored event to the bus in order, and stores its position after that', async () => {
    const [store, positions, bus] = [new InMemoryEventStore(), new Positions(), new Bus()];
    const events = [received(), approved(), overdue()];
    await store.append(STREAM, 'no_stream', events);
    await store.append('renegotiation-1', 'no_stream', [approved()]);
    const { relay } = relayOver(store, positions, bus);
    await until(() => relay.status().caughtUp);
    expect(
      bus.taken.map(({ eventId, name, sequence, code, fundId, applicationId }) => [
        eventId,
        name,
        sequence,
        code,
        fundId,
        applicationId,
      ]),
    ).toEqual([
      [events[0]!.id, 'loan_received', 0, 'OP.1', FUND, 'app-1'],
      [events[1]!.id, 'loan_approved', 1, 'OP.1', FUND, 'app-1'],
    ]);
    const later = await store.append(STREAM, 2n, [approved()]);
    await until(() => positions.stored.at(-1) === later.position);
    expect(bus.taken).toHaveLength(3);
    expect(relay.status().state).toBe('running');
    expect(relay.status().lastError).toBeUndefined();
  });

  test('goes on after its position, and finds the fund of an operation that it did not see begin', async () => {
    const [store, positions, bus] = [new InMemoryEventStore(), new Positions(), new Bus()];
    const reserved = stored({ type: 'LoanReserved' });
    const { position } = await store.append(STREAM, 'no_stream', [reserved, received()]);
    await positions.move(RELAY_CHECKPOINT, 'start', position);
    const { id } = approved();
    await store.append(STREAM, 1n, [{ ...approved(), id }]);
    relayOver(store, positions, bus);
    await until(() => bus.taken.length === 1);
    expect(bus.taken[0]).toMatchObject({ eventId: id, fundId: FUND, sequence: 2 });
  });

  describe('without having seen the operations begin', () => {
    /** As many operations as two rounds of reads take; each was received before the relay's position and approved behind it. */
    const OPERATIONS = 2 * READS_AT_ONCE;
    const beginning = async (fundId?: string) => {
      const [store, positions, bus] = [new InMemoryEventStore(), new Positions(), new Bus()];
      const streams = Array.from({ length: OPERATIONS }, (_, n) => loanStream('app-1', `OP-${n}`));
      let begun: LogPosition | 'start' = 'start';
      for (const stream of streams) begun = (await store.append(stream, 'no_stream', [received()])).position;
      await positions.move(RELAY_CHECKPOINT, 'start', begun);
      const approvals = streams.map(() => approved());
      for (const [n, { metadata, ...rest }] of approvals.entries()) {
        const event = { ...rest, metadata: { ...metadata, ...(fundId !== undefined && { fundId }) } };
        await store.append(streams[n]!, 0n, [event]);
      }
      const reading = { now: 0, most: 0, all: 0 };
      const read = store.read.bind(store);
      store.read = async (...place) => {
        reading.most = Math.max(reading.most, ++reading.now);
        reading.all++;
        await new Promise((resolve) => setImmediate(resolve));
        return read(...place).finally(() => reading.now--);
      };
      relayOver(store, positions, bus);
      await until(() => bus.taken.length === OPERATIONS);
      expect(bus.taken.map(({ eventId }) => eventId)).toEqual(approvals.map(({ id }) => id));
      return { reading, funds: new Set(bus.taken.map((event) => event.fundId)) };
    };

    test('reads no stream for events that say their fund', async () => {
      const { reading, funds } = await beginning(FUND);
      expect(reading.all).toBe(0);
      expect(funds).toEqual(new Set([FUND]));
    });

    test('reads a bounded number of streams at once for events that do not, and keeps their order', async () => {
      const { reading, funds } = await beginning();
      expect(reading).toEqual({ now: 0, most: READS_AT_ONCE, all: OPERATIONS });
      expect(funds).toEqual(new Set([FUND]));
    });
  });

  test('repeats what the bus did not take, waiting longer each time, and loses nothing', async () => {
    const [store, positions, bus] = [new InMemoryEventStore(), new Positions(), new Bus()];
    let refusals = 5;
    bus.refuse = () => refusals-- > 0;
    await store.append(STREAM, 'no_stream', [received(), approved()]);
    const { relay, logger, pauses } = relayOver(store, positions, bus);
    await until(() => bus.taken.length === 2);
    expect(pauses).toEqual([100, 200, 400, 800, 1_600]);
    await until(() => relay.status().caughtUp);
    const told = logger.lines.filter(({ level }) => level !== 'debug');
    expect(told.map(({ level, message }) => [level, message])).toEqual([
      ['error', 'outbox relay: failed; trying again until it works'],
      ['info', 'outbox relay: works again'],
    ]);
    expect(relay.status().lastError).toBeUndefined();
  });

  test('sends a batch again when its position was not stored', async () => {
    const [store, positions, bus] = [new InMemoryEventStore(), new Positions(), new Bus()];
    let broken = true;
    const move = positions.move.bind(positions);
    positions.move = async (...asked) => {
      if (broken) {
        broken = false;
        throw new Error('disk full');
      }
      return move(...asked);
    };
    await store.append(STREAM, 'no_stream', [received()]);
    relayOver(store, positions, bus);
    await until(() => positions.stored.length > 0);
    expect(bus.taken.map(({ name }) => name)).toEqual(['loan_received', 'loan_received']);
    expect(bus.taken[1]).toEqual(bus.taken[0]);
  });

  test('that was frozen while another took over repeats in order, and cannot set the position back', async () => {
    const [store, positions, bus] = [new InMemoryEventStore(), new Positions(), new Bus()];
    let thaw = (): void => undefined;
    const frozen = new Promise<void>((resolve) => (thaw = resolve));
    const slowBus = new Bus();
    slowBus.publish = async (events) => {
      await frozen;
      bus.taken.push(...events);
    };
    await store.append(STREAM, 'no_stream', [received(), approved()]);
    const zombie = relayOver(store, positions, slowBus);
    await until(() => zombie.relay.status().state === 'running');
    relayOver(store, positions, bus);
    await until(() => positions.stored.length === 1);
    const later = await store.append(STREAM, 1n, [approved(), approved()]);
    await until(() => positions.stored.at(-1) === later.position);
    thaw();
    await until(() => zombie.relay.status().caughtUp);
    expect(positions.stored).toHaveLength(2);
    const sequences = bus.taken.map(({ sequence }) => sequence);
    expect([...new Set(sequences)]).toEqual([0, 1, 2, 3]);
    expect(sequences.length).toBeGreaterThan(4);
  });

  test('that was frozen at an event too large for its bus holds back nothing that another has published', async () => {
    const [store, positions, bus] = [new InMemoryEventStore(), new Positions(), new Bus()];
    const thaw = Promise.withResolvers<void>();
    const smallBus = new Bus();
    smallBus.publish = async () => {
      await thaw.promise;
      throw new MessageTooLargeError('more than the broker takes');
    };
    await store.append(STREAM, 'no_stream', [received()]);
    const zombie = relayOver(store, positions, smallBus);
    await until(() => zombie.relay.status().state === 'running');
    relayOver(store, positions, bus);
    await until(() => positions.stored.length === 1);
    thaw.resolve();
    await until(() => zombie.relay.status().caughtUp);
    expect(await new RelayQuarantine(temporary.database).list()).toEqual([]);
    expect(bus.taken).toHaveLength(1);
  });

  test('waits at an event that it cannot translate rather than leave it out', async () => {
    const [store, positions, bus] = [new InMemoryEventStore(), new Positions(), new Bus()];
    await store.append(STREAM, 'no_stream', [{ ...received(), data: 'not json' as never }, approved()]);
    const { relay } = relayOver(store, positions, bus);
    await until(() => relay.status().lastError !== undefined);
    expect([bus.taken, positions.stored]).toEqual([[], []]);
    expect(relay.status()).toMatchObject({ caughtUp: false, position: 'start' });
  });

  test('stops when told to, and can be started again', async () => {
    const [store, positions, bus] = [new InMemoryEventStore(), new Positions(), new Bus()];
    const { relay } = relayOver(store, positions, bus);
    await until(() => relay.status().caughtUp);
    await relay.stop();
    expect(relay.status().state).toBe('stopped');
    await store.append(STREAM, 'no_stream', [received()]);
    relay.start();
    await until(() => bus.taken.length === 1);
  });

  test.each([
    ['cannot be translated', 'loan.approved.v2 is not known'],
    ['is too large for the bus', 'more than the broker takes'],
  ])(
    'lets an operation wait whose event %s, and goes on with the others; released, it follows in its order',
    async (fault, reason) => {
      const [store, positions, bus] = [new InMemoryEventStore(), new Positions(), new Bus()];
      const [quarantine, other] = [new RelayQuarantine(temporary.database), loanStream('app-1', 'OTHER')];
      let mended = false;
      bus.isTooLarge = ({ code, name }) =>
        fault === 'is too large for the bus' && !mended && code === 'OP.1' && name === 'loan_approved';
      const decoding = (recorded: RecordedEvent): LoanEvent | undefined => {
        const event = decode(recorded);
        const isUnreadable = fault === 'cannot be translated' && !mended;
        if (isUnreadable && event?.type === 'LoanApproved' && recorded.stream === STREAM)
          throw new UnreadableEventError('loan.approved.v2 is not known');
        return event;
      };
      await store.append(STREAM, 'no_stream', [received(), approved()]);
      await store.append(other, 'no_stream', [received(), approved()]);
      await store.append(STREAM, 1n, [stored({ type: 'LoanTermSigned', signedAt: 's' })]);
      const { relay, logger } = relayOver(store, positions, bus, decoding);
      const told = () => bus.taken.map(({ code, name }) => `${code} ${name}`);
      await until(() => relay.status().caughtUp);
      expect(told()).toEqual(['OP.1 loan_received', 'OTHER loan_received', 'OTHER loan_approved']);
      expect(relay.status()).toMatchObject({ state: 'running', quarantined: 1 });
      expect(await quarantine.list()).toEqual([
        {
          ...{ stream: STREAM, revision: 1n, released: false },
          ...{ eventType: 'loan.received.v1', reason },
        },
      ]);
      expect(logger.lines.filter(({ level }) => level === 'error')).toHaveLength(1);

      await quarantine.release(STREAM);
      await until(async () => (await quarantine.list())[0]?.released === false);
      expect(told()).toHaveLength(3);
      mended = true;
      await quarantine.release(STREAM);
      await until(async () => (await quarantine.list()).length === 0);
      expect(told().slice(3)).toEqual(['OP.1 loan_approved', 'OP.1 loan_term_signed']);
      await until(() => relay.status().caughtUp);
      await store.append(STREAM, 2n, [stored({ type: 'LoanRejected', rejectedAt: 'r', reasons: [] })]);
      await until(() => told().length > 5);
      expect(told().slice(5)).toEqual(['OP.1 loan_rejected']);
    },
  );

  test('holds back anew, from where it was held before, what a release meets behind that', async () => {
    const [store, positions, bus] = [new InMemoryEventStore(), new Positions(), new Bus()];
    const quarantine = new RelayQuarantine(temporary.database);
    const unknown = new Set(['LoanReceived', 'LoanApproved']);
    const decoding = (recorded: RecordedEvent): LoanEvent | undefined => {
      const event = decode(recorded);
      if (event && unknown.has(event.type)) throw new UnreadableEventError(`${event.type} is not known`);
      return event;
    };
    await store.append(STREAM, 'no_stream', [received(), approved()]);
    const { relay, logger } = relayOver(store, positions, bus, decoding);
    await until(() => relay.status().caughtUp);
    unknown.delete('LoanReceived');
    await quarantine.release(STREAM);
    await until(async () => (await quarantine.list())[0]?.released === false);
    expect(await quarantine.list()).toMatchObject([{ revision: 0n, reason: 'LoanApproved is not known' }]);
    // Told behind what is stored.
    await until(() => logger.lines.filter(({ level }) => level === 'error').length === 2);
    unknown.clear();
    await quarantine.release(STREAM);
    await until(async () => (await quarantine.list()).length === 0);
    expect(bus.taken.map(({ name }) => name)).toEqual(['loan_received', 'loan_approved']);
  });

  test('that was frozen while it published what was released does not let go of what another holds back since', async () => {
    const [store, positions] = [new InMemoryEventStore(), new Positions()];
    const quarantine = new RelayQuarantine(temporary.database);
    const { position } = await store.append(STREAM, 'no_stream', [received(), approved()]);
    const hold = { stream: STREAM, eventType: 'loan.received.v1', reason: 'too large' };
    await positions.move(RELAY_CHECKPOINT, 'start', position, [
      quarantine.holding({ ...hold, revision: 0n }),
    ]);
    await quarantine.release(STREAM);
    const thaw = Promise.withResolvers<void>();
    const slowBus = new Bus();
    slowBus.publish = () => thaw.promise;
    const zombie = relayOver(store, positions, slowBus);
    await until(() => zombie.relay.status().position === position);
    // Another one published it, and holds back what came next.
    await quarantine.settle({ stream: STREAM, revision: 0n });
    await temporary.database.transaction([quarantine.holding({ ...hold, revision: 1n })]);
    thaw.resolve();
    await until(() => zombie.relay.status().caughtUp);
    expect(await quarantine.list()).toMatchObject([{ revision: 1n, released: false }]);
    expect(zombie.relay.status().quarantined).toBe(1);
  });
});
