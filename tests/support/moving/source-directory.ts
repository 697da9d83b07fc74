import { join } from 'node:path';
import { CompiledQuery } from 'kysely';
import { chainEvents, CHAIN_START } from '../../../application/event-codec/event-codec.ts';
import type { EventMetadata, EventToAppend, JsonText } from '../../../application/ports/event-store.ts';
import { SqliteEventStore } from '../../../infrastructure/sqlite/event-log/sqlite-event-store.ts';
import { migrate } from '../../../application/sql/migrations/migrate.ts';
import { serviceMigrations } from '../../../application/sql/migrations/service.ts';
import { SqliteDatabase } from '../../../infrastructure/sqlite/sqlite-database.ts';
import { Random } from '../random.ts';
import { RecordingLogger } from '../recording-logger.ts';

/** Rows of every table that goes along, as columns in their order. */
const ROWS: Readonly<Record<string, readonly (readonly unknown[])[]>> = {
  client: [
    ['c-1', 'app-1', 'Acme', 'hash', 1.5, '2026-01-01T00:00:00.000Z', null, 'loans:read', '["fund-1"]'],
    ['c-2', 'app-2', 'Çesme', 'hash', 1, '2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z', null, null],
  ],
  application_fund: [
    ['app-1', 'fund-1'],
    ['app-2', 'fund-1'],
  ],
  wrapped_key: [['data-key:loan-app-1.A', 'sealed', '2026-01-01T00:00:00.000Z']],
  borrower_operation: [['digest', 'loan-app-1.A']],
  log_seal: [
    [1, 'begin', 'embedded', 'start', 0, 0, 'none', '2026-01-01T00:00:00.000Z', 'mac-1'],
    [2, 'live', 'embedded', '200', 200, 200, 'digest', '2026-01-01T00:00:05.000Z', 'mac-2'],
  ],
  log_seal_head: [[1, 2, 'mac-2', 'proof']],
  consumer_offset: [['webhooks', 'events', 3, 12, '2026-01-01T00:00:00.000Z']],
  consumer_mark: [['webhooks', 'app-1.A', 4, '["e-1"]', '0-3 4:1f3a9c0d']],
  consumer_topic: [['events', 12, '2026-01-01T00:00:00.000Z']],
  webhook_subscription: [
    // prettier-ignore
    ['w-1', 'app-1', 'https://example.org/', '["*"]', null, null, 'active', 'sealed', '2026-01-01T00:00:00.000Z',
      '2026-01-01T00:00:00.000Z', null, null, null, null, '150', '160', '["*"]'],
  ],
  webhook_event: Array.from({ length: 300 }, (_, i) => [
    `e-${i}`,
    'app-1',
    'loan_received',
    'fund-1',
    `A-${i}`,
    i,
    '2026-01-01T00:00:00.000Z',
    `{"n":${i},"text":"é"}`,
  ]),
  webhook_delivery: Array.from({ length: 300 }, (_, i) => [
    ...['w-1', `d-${i}`, `e-${i}`, i % 3 === 0 ? `A-${i}` : null, i, i % 3 === 0 ? 'retrying' : 'delivered'],
    ...[2, 1, '2026-01-01T00:00:00.000Z', '2026-01-01T00:10:00.000Z', null, null, null, 500, 'answered 500'],
  ]),
  webhook_attempt: [['d-0', 1, '2026-01-01T00:00:00.000Z', 12, 500, null, 'não']],
  webhook_lane: [['A-0', 'w-1', 1, '2026-01-01T00:10:00.000Z', '', null, null]],
  webhook_redelivery: [
    // prettier-ignore
    ['r-1', 'w-1', 'app-1', 'running', 'any', '2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z', 2, 0, 0, 0, 0, 1, null,
      'A-1', '2026-01-02T00:00:00.000Z', null],
  ],
  webhook_redelivery_item: [
    ['r-1', 'A-1', 1, 'd-1', 'e-1', 3],
    ['r-1', 'A-1', 2, 'd-2', 'e-2', null],
  ],
};

const metadataOf = (n: number, idempotency?: EventMetadata['idempotency']) => ({
  correlationId: `request-${n}`,
  causationId: `request-${n}`,
  actor: 'client',
  applicationId: 'app-1',
  recordedAt: `2026-01-01T00:00:00.${String(n % 1000).padStart(3, '0')}Z`,
  ...(idempotency && { idempotency }),
});

/** Appends as a service makes them: several operations at once, renegotiations among them, some with a key of their own. */
const writeEvents = async (store: SqliteEventStore, appends: number): Promise<void> => {
  const random = new Random(7);
  const streams = new Map<string, { revision: bigint | 'no_stream'; hash: string }>();
  for (let n = 0; n < appends; n++) {
    const stream = random.chance(0.1)
      ? `renegotiation-${random.below(5)}`
      : `loan-app-1.CODE-${random.below(20)}`;
    const { revision, hash } = streams.get(stream) ?? { revision: 'no_stream' as const, hash: CHAIN_START };
    const administrator = random.chance(0.2);
    const endpoint = administrator ? 'administrator decision' : 'settle';
    const idempotency = { endpoint, key: `key-${n}`, fingerprint: `print-${n}` };
    const keyed = stream.startsWith('loan-') && random.chance(0.6);
    const events: EventToAppend[] = chainEvents(
      hash,
      stream,
      Array.from({ length: random.between(1, 4) }, (_, i) => ({
        id: `00000000-0000-7000-8000-${String(n * 10 + i).padStart(12, '0')}`,
        type: 'something.happened.v1',
        data: JSON.stringify({ n, i, text: 'ação' }) as JsonText,
        metadata: metadataOf(n, keyed && i === 0 ? idempotency : undefined),
      })),
    );
    const claim =
      keyed && (administrator || random.chance(0.5))
        ? { applicationId: administrator ? '*' : 'app-1', endpoint, key: `key-${n}` }
        : undefined;
    const result = await store.append(stream, revision, events, claim);
    streams.set(stream, { revision: result.revision, hash: events.at(-1)!.metadata.hash });
  }
};

/** A data directory as an embedded service leaves it, with followers at these places of the log. */
export const writeSource = async (
  dataDir: string,
  checkpoints: Readonly<Record<string, number>>,
  appends = 140,
): Promise<void> => {
  const store = await SqliteEventStore.open(dataDir);
  await writeEvents(store, appends);
  await store.close();
  const logger = new RecordingLogger();
  const database = await SqliteDatabase.open({
    path: join(dataDir, 'service.db'),
    synchronous: 'NORMAL',
    logger,
  });
  await migrate(database, serviceMigrations, '2026-01-01T00:00:00.000Z');
  const insertions = Object.entries(ROWS).flatMap(([table, rows]) =>
    rows.map((row) => ({
      text: `insert into ${columnsOf(table)} values (${row.map(() => '?').join()})`,
      row,
    })),
  );
  const places = Object.entries(checkpoints).map(([name, at]) => ({
    text: 'insert into checkpoint values (?, ?, ?)',
    row: [name, String(at), '2026-01-01T00:00:00.000Z'],
  }));
  await database.transaction(
    [...insertions, ...places].map(({ text, row }) => ({ query: CompiledQuery.raw(text, [...row]) })),
  );
  await database.close();
};

const columnsOf = (table: string): string =>
  table === 'webhook_delivery'
    ? 'webhook_delivery (webhook_id, delivery_id, event_id, waiting_lane, sequence, status, attempts, scheduled_attempts, ' +
      'created_at, next_attempt_at, last_attempt_at, delivered_at, finished_at, last_response_status, last_error)'
    : table;

export const movedRows = (table: string): number => ROWS[table]?.length ?? 0;
export const allMovedRows = Object.values(ROWS).reduce((sum, rows) => sum + rows.length, 0);
