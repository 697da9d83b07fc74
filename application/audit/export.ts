import type { RecordedEvent } from '../ports/event-store.ts';
import type { LogWalk } from './log-walk.ts';

const FORMAT = 'receivables-audit-export/1';

/** The members in the order in which `chainHash` takes them; `docs/audit.md` tells others, so they never change. */
const lineOf = ({ stream, revision, id, type, data, metadata }: RecordedEvent): string => {
  const { idempotency } = metadata;
  return JSON.stringify({
    stream,
    revision: Number(revision),
    id,
    type,
    data,
    correlation_id: metadata.correlationId,
    causation_id: metadata.causationId,
    actor: metadata.actor,
    application_id: metadata.applicationId,
    recorded_at: metadata.recordedAt,
    ...(idempotency && {
      idempotency_endpoint: idempotency.endpoint,
      idempotency_key: idempotency.key,
      idempotency_fingerprint: idempotency.fingerprint,
    }),
    ...(metadata.fundId !== undefined && { fund_id: metadata.fundId }),
    hash: metadata.hash,
  });
};

/** The last line counts, so that half of an export is not taken for one. */
export async function* exportLines(takenAt: string, walk: LogWalk): AsyncGenerator<string> {
  yield `${JSON.stringify({ format: FORMAT, taken_at: takenAt })}\n`;
  let exported = 0;
  for await (const events of walk.toTheEnd()) {
    exported += events.length;
    yield events.map((event) => `${lineOf(event)}\n`).join('');
  }
  yield `${JSON.stringify({ events: exported })}\n`;
}
