import type { SqlLoanReader } from '../../application/loans/loan-reader.ts';
import { expect, test } from '@jest/globals';
import { UnreadableEventError } from '../../application/event-codec/fields.ts';
import { decodeEvent } from '../../application/event-codec/event-codec.ts';
import type {
  EventStore,
  EventSubscription,
  JsonText,
  RecordedEvent,
} from '../../application/ports/event-store.ts';
import type { LogOrder } from '../../application/ports/read-models.ts';
import type { ProjectionStore } from '../../application/projecting/projection-store.ts';
import { projectedEvent } from '../../application/projecting/projected-event.ts';
import { ReadModelFollower } from '../../application/projecting/read-model.ts';
import { QuarantinedOperations } from '../../application/maintenance/quarantine/quarantined-operations.ts';
import { ReadModelCopy } from '../../application/maintenance/rebuild/read-model-copy.ts';
import { pause } from '../../infrastructure/support/time.ts';
import { loanProjection } from '../../projections/loan/loan-projection.ts';
import { eventIndex } from '../../infrastructure/composition/read-models.ts';
import type { ProjectedEvent, Projection, Row } from '../../projections/projection.ts';
import { context } from '../support/application-parts.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import {
  MemoryDocuments,
  activeLoan,
  ana,
  command,
  activation,
  newProposal,
  pay,
  renegotiation,
  startProcess,
  streamOf,
} from '../support/renegotiation-world.ts';
import { until } from '../support/within.ts';

export interface FollowedStores {
  readonly log: EventStore & EventSubscription;
  readonly store: ProjectionStore;
  readonly order: LogOrder;
  readonly rows: (table: string) => Promise<readonly Row[]>;
  /** What readers ask; by the store's own list where there is no engine behind it. */
  readonly loans?: Pick<SqlLoanReader, 'quarantined'>;
}

const COMMITTED = 'renegotiation.committed.v1';
const CODES = ['L1', 'L2', 'N1', 'X'];
/** Whether the text of an unreadable event names the operations, as most do. */
type Naming = 'named' | 'unnamed';

/** L1 and L2 become N1, as a process tells it that knows every event; X goes its own way. */
const told = async (log: EventStore) => {
  const documents = new MemoryDocuments();
  const process = startProcess(log, { documents });
  for (const code of ['L1', 'L2', 'X']) await activeLoan(process, documents, code);
  await process.renegotiation.renegotiate(
    context(),
    renegotiation(['L1', 'L2'], { newProposal: newProposal({ borrower: ana }) }),
  );
  await pay(process.commands, 'X', '001');
  const events: RecordedEvent[] = [];
  for (const code of CODES) events.push(...(await log.read(streamOf(code))).events);
  const reserved = events.map(decodeEvent).find(({ type }) => type === 'LoanReserved');
  if (reserved?.type !== 'LoanReserved') throw new Error('nothing was reserved');
  return { process, id: reserved.renegotiationId };
};

/** A program that cannot read the commit, until it can. */
const programOver = (stores: FollowedStores, naming: Naming) => {
  let readable = false;
  const seen = (event: RecordedEvent): RecordedEvent =>
    !readable && naming === 'unnamed' && event.type === COMMITTED
      ? { ...event, data: '{}' as JsonText }
      : event;
  const decode = (recorded: RecordedEvent): ProjectedEvent => {
    if (!readable && recorded.type === COMMITTED) throw new UnreadableEventError('a field of later');
    return projectedEvent(recorded, decodeEvent(recorded));
  };
  const log: EventSubscription = {
    async *subscribe(options) {
      for await (const message of stores.log.subscribe(options))
        yield message.kind === 'events' ? { ...message, events: message.events.map(seen) } : message;
    },
  };
  /** Refuses to let anybody see a half: looks after everything that is stored. */
  const store: ProjectionStore = {
    checkpoint: (...parameters) => stores.store.checkpoint(...parameters),
    quarantined: (...parameters) => stores.store.quarantined(...parameters),
    apply: async (...parameters) => {
      const stored = await stores.store.apply(...parameters);
      const { L1, L2, N1 } = await statuses(stores);
      expect([L1 === 'renegotiated', L2 === 'renegotiated']).toEqual([N1 !== undefined, N1 !== undefined]);
      return stored;
    },
  };
  const learns = (): void => void (readable = true);
  return { decode, log, store, learns };
};

const statuses = async ({ rows }: FollowedStores): Promise<Readonly<Record<string, unknown>>> =>
  Object.fromEntries((await rows('loan')).map(({ code, status }) => [code, status]));

type Program = ReturnType<typeof programOver>;
interface Follower {
  /** Resolves when everything that is stored now is taken in, or waits. */
  caughtUp(): Promise<void>;
  stop(): Promise<void>;
}
const followers: Readonly<Record<string, (stores: FollowedStores, program: Program) => Follower>> = {
  projector: ({ log }, program) => {
    const parts = { ...program, projection: loanProjection, logger: new RecordingLogger(), pause };
    const projector = new ReadModelFollower({ ...parts, batchSize: 4 });
    projector.start();
    return {
      caughtUp: async () => {
        const last = (await log.read(streamOf('X'))).events.at(-1)!;
        await until(() => projector.waitForVersion(last.stream, last.revision, 0), 'X is projected');
        expect(projector.status().state).toBe('running');
      },
      stop: () => projector.stop(),
    };
  },
  'generation that is built': ({ order }, program) => ({
    caughtUp: () =>
      new ReadModelCopy({
        ...program,
        ...{ order, projection: loanProjection },
        onProgress: () => undefined,
        breathe: async () => undefined,
      }).catchUp(new AbortController().signal),
    stop: async () => undefined,
  }),
};

const quarantineOf = ({ log, order }: FollowedStores, program: Program, resolved: string[]) =>
  new QuarantinedOperations({
    ...{ projections: [loanProjection], store: program.store, events: log, order },
    decode: program.decode,
    relay: { list: async () => [], waits: async () => false, release: async () => false },
    renegotiation: { resolve: async (id) => void resolved.push(id) },
    actors: [{ resume: async (stream) => void resolved.push(stream) }],
  });

type Loop = readonly [follower: string, naming: Naming];
const everyLoop: readonly Loop[] = Object.keys(followers).flatMap((follower) =>
  (['named', 'unnamed'] as const).map((naming) => [follower, naming] as const),
);

/** What a follower makes of a renegotiation whose commit it cannot read, on these stores. */
export const describeQuarantinedRenegotiation = (
  name: string,
  withStores: (check: (stores: FollowedStores) => Promise<void>) => Promise<void>,
  loops: readonly Loop[] = everyLoop,
): void => {
  test.each(loops)(
    `${name}: a renegotiation that a %s cannot read, its operations %s, waits with them and is released with them`,
    (loop, naming) =>
      withStores(async (stores) => {
        const { process, id } = await told(stores.log);
        const program = programOver(stores, naming);
        const follower = followers[loop]!(stores, program);
        const resolved: string[] = [];
        const quarantine = quarantineOf(stores, program, resolved);
        const renegotiationStream = `renegotiation-${id}`;
        try {
          await follower.caughtUp();
          expect(await statuses(stores)).toEqual({ L1: 'active', L2: 'active', X: 'active' });
          const waiting = ['L1', 'L2', 'N1'].map(streamOf);
          const listed = await quarantine.list();
          expect(listed.map(({ stream }) => stream)).toEqual([...waiting, renegotiationStream]);
          const asked = stores.loans?.quarantined([...waiting, streamOf('X')]);
          expect(await (asked ?? new Set(waiting))).toEqual(new Set(waiting));
          expect(listed.at(-1)).toMatchObject({
            revision: 1n,
            eventType: COMMITTED,
            reason: 'a field of later',
          });
          for (const { reason } of listed)
            expect(reason).toMatch(/a field of later|belongs to renegotiation-/);

          const [first, ...others] = waiting;
          expect(await quarantine.release(first!)).toMatchObject([
            { outcome: 'still_waits', reason: `event 1 (${COMMITTED}): a field of later` },
          ]);
          expect(resolved).toEqual([]);
          program.learns();
          await command(process.commands, 'N1', activation[0]!);
          const [release] = await quarantine.release(first!);
          expect(release).toMatchObject({ waitsFor: 'loan', outcome: 'released' });
          expect(release!.together!.toSorted()).toEqual([...others, renegotiationStream]);
          expect(resolved.toSorted()).toEqual([id, ...waiting, renegotiationStream].toSorted());
          expect(await quarantine.list()).toEqual([]);
          // What a follower had in quarantine is released under its hands.
          await command(process.commands, 'N1', activation[1]!);
          await pay(process.commands, 'X', '002');
          await follower.caughtUp();
          expect(await statuses(stores)).toEqual({
            ...{ L1: 'renegotiated', L2: 'renegotiated', N1: 'term_signed', X: 'active' },
          });
          expect(await quarantine.list()).toEqual([]);
        } finally {
          await follower.stop();
        }
      }),
  );

  if (loops !== everyLoop) return;
  test(`${name}: an original that waits keeps its renegotiation waiting; the index of events knows of operations alone`, () =>
    withStores(async (stores) => {
      const { id } = await told(stores.log);
      const program = programOver(stores, 'named');
      let later = true;
      const decode = (recorded: RecordedEvent): ProjectedEvent => {
        if (later && recorded.stream === streamOf('L2') && recorded.revision === 3n)
          throw new UnreadableEventError('later');
        return program.decode(recorded);
      };
      const build = (projection: Projection) =>
        new ReadModelCopy({
          ...{ ...program, ...stores, store: projection === loanProjection ? program.store : stores.store },
          ...{ decode, projection, onProgress: () => undefined, breathe: async () => undefined },
        }).catchUp(new AbortController().signal);
      await build(eventIndex);
      const indexed = (await stores.store.quarantined(eventIndex)).map(({ stream }) => stream);
      program.learns();
      await build(loanProjection);
      const quarantine = quarantineOf(stores, { ...program, decode }, []);
      const streams = [...['L1', 'L2', 'N1'].map(streamOf), `renegotiation-${id}`];
      expect((await quarantine.list()).map(({ stream }) => stream)).toEqual(streams);
      expect(indexed).not.toContain(`renegotiation-${id}`);
      expect(await statuses(stores)).toEqual({ L1: 'active', L2: 'term_signed', X: 'active' });
      later = false;
      expect(await quarantine.release(`renegotiation-${id}`)).toMatchObject([{ outcome: 'released' }]);
      const after = { L1: 'renegotiated', L2: 'renegotiated', N1: 'received', X: 'active' };
      expect(await statuses(stores)).toEqual(after);
    }));
};
