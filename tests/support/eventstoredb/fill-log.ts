import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { EventMetadata, EventToAppend, JsonText } from '../../../application/ports/event-store.ts';
import { encodeEvent } from '../../../infrastructure/eventstoredb/event-wire.ts';
import { claimStream, toIntentEvent } from '../../../infrastructure/eventstoredb/key-claims.ts';
import { LogFile } from './log-file.ts';

const CREATED = Date.parse('2026-01-15T12:00:00.000Z');
const SYNC_EVERY = 20_000;

const proposed = (event: EventToAppend) => {
  const { id, type, contentType, data, metadata } = encodeEvent(event);
  return { id, type, contentType, data: Buffer.from(data), metadata: Buffer.from(metadata) };
};

/**
 * The embedded log of a data directory as the stand-in keeps one, each event behind the claim of the key that it used up. Answers how many
 * records it has.
 */
export const fillStandIn = (dataDir: string, standInDir: string): number => {
  const source = new DatabaseSync(join(dataDir, 'events.db'), { readOnly: true });
  const file = new LogFile(standInDir);
  const rows = source.prepare(
    `select e.id, e.type, e.data, e.metadata, e.revision, s.name as stream
     from events e cross join streams s on s.id = e.stream_id order by e.position`,
  );
  let records = 0;
  const write = (stream: string, event: EventToAppend): void => {
    file.write({ stream, created: CREATED, events: [proposed(event)] });
    if (++records % SYNC_EVERY === 0) file.sync();
  };
  try {
    for (const row of rows.iterate()) {
      const metadata = JSON.parse(String(row['metadata'])) as EventMetadata;
      const [id, type] = [String(row['id']), String(row['type'])];
      const event: EventToAppend = { id, type, data: row['data'] as JsonText, metadata };
      const [stream, revision] = [String(row['stream']), BigInt(Number(row['revision']))];
      if (metadata.idempotency) {
        const { endpoint, key } = metadata.idempotency;
        const claim = { applicationId: metadata.applicationId, endpoint, key };
        const expected = revision === 0n ? ('no_stream' as const) : revision - 1n;
        const name = claimStream(claim);
        write(name, toIntentEvent({ stream, expected, events: [event] }, claim, name));
      }
      write(stream, event);
    }
  } finally {
    file.sync();
    file.close();
    source.close();
  }
  return records;
};
