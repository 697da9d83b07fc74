import { expect, test } from '@jest/globals';
import { PairedClaims } from '../../../application/audit/check-claims.ts';
import { StoreUnavailableError } from '../../../application/ports/event-store.ts';
import type { RecordedEvent } from '../../../application/ports/event-store.ts';
import { ENDPOINTS } from '../../../application/command-handling/endpoints.ts';
import { SqliteAuditNotes } from '../../../infrastructure/sqlite/audit-notes.ts';

const STREAM = 'loan-app-1.OP-1';
const event = {
  stream: STREAM,
  revision: 0n,
  id: 'event',
  metadata: { applicationId: 'app-1', idempotency: { endpoint: ENDPOINTS.settleInstallment, key: 'key' } },
} as RecordedEvent;

test('a store that is away for a moment when keys are paired is asked again', async () => {
  const notes = new SqliteAuditNotes();
  let asked = 0;
  const away = async <Answer>(answer: Answer): Promise<Answer> => {
    if (++asked === 1) throw new StoreUnavailableError('no connection');
    return answer;
  };
  try {
    const claims = new PairedClaims(
      {
        notes,
        log: { claimKey: ({ key }) => key, claims: async function* () {} },
        store: {
          read: () => away({ events: [event], revision: 0n }),
          findClaim: async () => 'loan-app-1.OP-2',
        },
        sleep: async () => undefined,
      },
      'start',
    );
    notes.noteStream(STREAM, { inLog: 1, read: 1, hash: '', payments: 0, inFeed: 0 });
    await claims.check(STREAM, [event]);
    const differences = [];
    for await (const some of claims.end()) differences.push(...some);
    expect([asked, differences]).toMatchObject([
      2,
      [{ kind: 'claim', stream: STREAM, found: 'loan-app-1.OP-2' }],
    ]);
  } finally {
    notes.close();
  }
});
