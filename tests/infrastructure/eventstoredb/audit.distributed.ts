import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Difference } from '../../../application/audit/difference.ts';
import { verifyLog } from '../../../application/audit/verify-log.ts';
import type { VerifySummary } from '../../../application/audit/verify-log.ts';
import { ENDPOINTS } from '../../../application/command-handling/endpoints.ts';
import type { Audit } from '../../../application/audit/audit.ts';
import type { SqlAuditedRows } from '../../../application/audit/audited-rows.ts';
import type { SqlFrozenEvents } from '../../../application/audit/frozen-events.ts';
import type { AuditNotes } from '../../../application/audit/audit-notes.ts';
import type { EventSubscription, EventToAppend, KeyClaim } from '../../../application/ports/event-store.ts';
import { retryUntilAvailable } from '../../../application/support/retry.ts';
import type { EventStoreDbStore } from '../../../infrastructure/eventstoredb/event-store-db-store.ts';
import { claimStream } from '../../../infrastructure/eventstoredb/key-claims.ts';
import { SqliteAuditNotes } from '../../../infrastructure/sqlite/audit-notes.ts';
import { pause } from '../../../infrastructure/support/time.ts';
import { sampleEvent, sampleMetadata } from '../../contracts/event-store-samples.ts';
import { openAtStandIn } from '../../support/eventstoredb/open-store.ts';
import type { StoreAtStandIn } from '../../support/eventstoredb/open-store.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

let at: StoreAtStandIn;
let directory: string;
beforeEach(async () => {
  directory = temporaryDirectory();
  at = await openAtStandIn();
});
afterEach(async () => {
  await at[Symbol.asyncDispose]();
});

const endpoint = ENDPOINTS.settleInstallment;
const claimOf = (key: string): KeyClaim => ({ applicationId: 'app-1', endpoint, key });

/** No event of the domain, so that each is a difference of its own; its key counts all the same. */
const withKey = (key: string): EventToAppend => ({
  ...sampleEvent(),
  type: 'unknown.v1',
  metadata: sampleMetadata({ applicationId: 'app-1', idempotency: { endpoint, key, fingerprint: 'f' } }),
});

const fill = async (streams: number): Promise<void> => {
  const numbers = Array.from({ length: streams }, (_, i) => i);
  const add = (i: number): Promise<unknown> => {
    const events = [withKey(`${i}`)];
    const append = () => at.store.append(`loan-app-1.${i}`, 'no_stream', events, claimOf(`${i}`));
    // So many at once may take too long on a busy machine.
    return retryUntilAvailable(append, pause);
  };
  for (let i = 0; i < streams; i += 100) await Promise.all(numbers.slice(i, i + 100).map(add));
};

const verification = (
  store: EventStoreDbStore,
  patient = pause,
  subscription: EventSubscription = store,
): Audit['verify'] =>
  verifyLog.bind(undefined, {
    events: store,
    subscription,
    claimLog: store,
    rows: {
      rowsOf: async () => new Map(),
      countEvents: async () => 0,
      operationsIn: async () => [],
    } as unknown as SqlAuditedRows,
    frozen: {
      find: async () => new Map(),
      page: async () => [],
      count: async () => 0,
      misplacedDeliveries: async () => [],
    } as unknown as SqlFrozenEvents,
    auditing: { projections: [], sandbox: true, apiVersion: '1' },
    readModels: [],
    seals: {
      book: { head: async () => undefined, page: async () => [], lastBegin: async () => 0 },
      keys: { find: async () => undefined },
      numberOf: (position) => (position === 'start' ? 0n : BigInt(position.split('/')[0]!)),
    },
    documents: { open: async () => undefined },
    clock: new ManualClock(),
    // Silence of the log is waited for in earnest; between two tries nothing is.
    sleep: (ms, signal) => (signal ? pause(ms, signal) : patient(Math.min(ms, 1))),
  });

interface Outcome {
  readonly differences: readonly Difference[];
  readonly summary: VerifySummary;
}

const audit = async (notes: AuditNotes, verify = verification(at.store)): Promise<Outcome> => {
  const differences: Difference[] = [];
  const run = verify({ notes });
  for (;;) {
    const next = await run.next();
    if (next.done) return { differences, summary: next.value };
    differences.push(next.value);
  }
};

const claimsIn = ({ differences }: Outcome): readonly string[] =>
  differences.filter(({ kind }) => kind === 'claim').map(({ stream, found }) => `${stream} ${found}`);

const sorted = ({ differences }: Outcome): readonly string[] =>
  differences.map((one) => JSON.stringify(one)).toSorted();

describe('the claims of an audit', () => {
  test('are followed beside the events: nothing is asked for one by one', async () => {
    await fill(120);
    const before = at.server.faults.count('Read');
    const outcome = await audit(new SqliteAuditNotes());
    expect(claimsIn(outcome)).toEqual([]);
    expect(outcome.summary).toMatchObject({ events: 120, streams: 120 });
    // One for each stream, and a few about where the log ends, more of them where it takes longer; each claim would be one more.
    expect(at.server.faults.count('Read') - before).toBeLessThan(2 * 120);
  });

  test("that are missing, or another stream's, are found", async () => {
    await fill(3);
    await at.store.append('loan-app-1.without', 'no_stream', [withKey('none')]);
    await at.store.append('loan-app-1.other', 'no_stream', [withKey('1')]);
    expect(claimsIn(await audit(new SqliteAuditNotes())).toSorted()).toEqual([
      'loan-app-1.other loan-app-1.1',
      'loan-app-1.without (nobody)',
    ]);
  });

  test('count as their last one says: an earlier one whose place went to something else is no difference', async () => {
    // The first try lost its place to another event, and the key was used by the second.
    const [lost, winner, second] = [withKey('k'), sampleEvent(), withKey('k')];
    at.server.faults.appends = 'lost';
    at.server.faults.appendsTo = (stream) => stream === 'loan-app-1.A';
    const first = at.store.append('loan-app-1.A', 'no_stream', [lost], claimOf('k')).catch(() => undefined);
    await first;
    at.server.faults.appends = 'answered';
    await at.store.append('loan-app-1.A', 'no_stream', [winner]);
    await at.store.append('loan-app-1.B', 'no_stream', [second], claimOf('k'));
    expect(at.server.log.stream(claimStream(claimOf('k')))).toHaveLength(2);
    expect(claimsIn(await audit(new SqliteAuditNotes()))).toEqual([]);
  }, 300_000);

  test('behind which something else was written are asked for, and that is said', async () => {
    await fill(1);
    const foreign = { ...sampleEvent(), id: randomUUID() };
    await at.store.append(claimStream(claimOf('0')), 0n, [foreign]);
    await expect(audit(new SqliteAuditNotes())).rejects.toThrow('is not an intent');
  });
});

describe('an audit that is stopped', () => {
  test('goes on from what it saved, and its report is the one of an audit that was not', async () => {
    await fill(2_500);
    const whole = await audit(new SqliteAuditNotes());
    const file = join(directory, 'notes.db');
    const notes = new SqliteAuditNotes(file);
    const run = verification(at.store)({ notes });
    let met = 0;
    while (met++ < 5_100) await run.next();
    await run.return(undefined as never);
    // As when the process ends: what was noted after the last save is gone.
    notes.close();
    const again = new SqliteAuditNotes(file);
    const readBefore = at.server.faults.count('Read');
    const resumed = await audit(again);
    expect(sorted(resumed)).toEqual(sorted(whole));
    expect(resumed.summary).toMatchObject({
      events: 2_500,
      streams: 2_500,
      differences: whole.differences.length,
    });
    expect(at.server.faults.count('Read') - readBefore).toBeLessThan(1_500);
    again.close();
  }, 300_000);

  test('is not mixed with one of another fund', async () => {
    const notes = new SqliteAuditNotes();
    notes.save(JSON.stringify({ request: '["fund",null]' }));
    await expect(audit(notes)).rejects.toThrow('another fund or anchor');
  });
});

describe('an event store that is away', () => {
  beforeEach(async () => {
    await at[Symbol.asyncDispose]();
    at = await openAtStandIn({ readTimeoutMs: 300 });
  });

  test('ends an audit instead of being reported as differences', async () => {
    await fill(3);
    at.server.faults.reads = 'failing';
    await expect(audit(new SqliteAuditNotes())).rejects.toThrow(/cannot be read|reading/);
  }, 300_000);

  test('for a moment changes nothing', async () => {
    await fill(3);
    const whole = sorted(await audit(new SqliteAuditNotes()));
    let walked = false;
    const subscription: EventSubscription = {
      async *subscribe(options) {
        for await (const message of at.store.subscribe(options)) {
          if (!walked) at.server.faults.reads = 'failing';
          walked = true;
          yield message;
        }
      },
    };
    const mended = async (): Promise<void> => {
      at.server.faults.reads = 'answered';
    };
    const outcome = await audit(new SqliteAuditNotes(), verification(at.store, mended, subscription));
    expect(walked).toBe(true);
    expect(sorted(outcome)).toEqual(whole);
  }, 300_000);

  test('for one stream only: that stream is the difference', async () => {
    await fill(3);
    await at.server.log.tombstone('loan-app-1.1');
    const { differences } = await audit(new SqliteAuditNotes());
    expect(differences).toContainEqual(
      expect.objectContaining({ stream: 'loan-app-1.1', expected: 'a stream that can be read' }),
    );
  });
});
