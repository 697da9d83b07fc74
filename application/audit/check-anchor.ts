import type { RecordedEvent } from '../ports/event-store.ts';
import type { Head } from './anchor.ts';
import type { AuditedStreams } from './audited-streams.ts';
import type { Report } from './difference.ts';

/** The event that was the stream's last one then must still be the same: a chain that was written anew ends in another hash. */
export const checkAnchor = (
  head: Head | undefined,
  events: readonly RecordedEvent[],
  report: Report,
): void => {
  if (!head) return;
  const found = events[head.revision]?.metadata.hash ?? '(no such event)';
  if (found === head.hash) return;
  const { stream, revision, hash: expected } = head;
  report({ kind: 'anchor', stream, revision, what: 'hash', expected, found });
};

/** Streams that were there once. */
export const checkVanished = (
  anchor: ReadonlyMap<string, Head> | undefined,
  streams: Pick<AuditedStreams, 'has'>,
  report: Report,
): void => {
  for (const { stream, revision, hash } of anchor?.values() ?? []) {
    if (streams.has(stream)) continue;
    report({ kind: 'anchor', stream, revision, what: 'hash', expected: hash, found: '(no such stream)' });
  }
};
