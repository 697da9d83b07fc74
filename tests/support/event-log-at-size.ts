import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { loanStream } from '../../application/command-handling/operation.ts';
import { CHAIN_START, chainEvents, encodeEvent } from '../../application/event-codec/event-codec.ts';
import type { LoanEvent } from '../../domain/loan/events.ts';
import type { LoanCode } from '../../domain/shared/identifiers.ts';
import { EVENT_LOG_FILE, openEventLog } from '../../infrastructure/sqlite/event-log/event-log-threads.ts';
import { L1 } from '../domain/support/finance-vectors.ts';
import { NOW, activated, paid, received } from '../domain/support/loan-story.ts';

const APPLICATION = 'app-1';

const lifeOf = (code: string, payments: number): readonly LoanEvent[] => [
  { ...received, code: code as LoanCode },
  ...activated.slice(1),
  ...L1.installments.slice(0, payments).map((installment) => paid(installment.code)),
];

const metadata = (id: string) => ({
  correlationId: id,
  causationId: id,
  actor: 'client-1',
  applicationId: APPLICATION,
  recordedAt: NOW,
});

/** Writes so many operations, each bought and partly paid, into the embedded event log of a directory; answers the number of events. */
export const fillEventLog = (dataDir: string, operations: number, payments = 8): number => {
  mkdirSync(dataDir, { recursive: true });
  const path = join(dataDir, EVENT_LOG_FILE);
  const connection = openEventLog({ path, role: 'writer', busyTimeoutMs: 1_000 });
  const db = connection.database;
  const addStream = db.prepare('INSERT INTO streams (name) VALUES (?)');
  const addEvent = db.prepare(
    'INSERT INTO events (stream_id, revision, id, type, data, metadata) VALUES (?, ?, ?, ?, ?, ?)',
  );
  let written = 0;
  db.exec('BEGIN');
  for (let n = 0; n < operations; n++) {
    const code = `OP-${String(n).padStart(7, '0')}`;
    const stream = loanStream(APPLICATION, code);
    const streamId = addStream.run(stream).lastInsertRowid;
    const events = lifeOf(code, payments).map((event) => {
      const id = randomUUID();
      return { id, ...encodeEvent(event), metadata: metadata(id) };
    });
    for (const [revision, event] of chainEvents(CHAIN_START, stream, events).entries()) {
      addEvent.run(streamId, revision, event.id, event.type, event.data, JSON.stringify(event.metadata));
      written += 1;
    }
  }
  db.exec('COMMIT');
  connection.checkpoint();
  connection.close();
  return written;
};
