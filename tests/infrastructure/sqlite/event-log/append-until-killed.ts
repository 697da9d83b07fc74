/** Appends to several streams at once for ever and prints each event that the store has acknowledged: stream, revision, id. */
import { randomUUID } from 'node:crypto';
import { writeSync } from 'node:fs';
import type { EventToAppend, JsonText } from '../../../../application/ports/event-store.ts';
import { SqliteEventStore } from '../../../../infrastructure/sqlite/event-log/sqlite-event-store.ts';

const [dataDir = '', streams = '1'] = process.argv.slice(2);
const store = await SqliteEventStore.open(dataDir);

const newEvent = (): EventToAppend => ({
  id: randomUUID(),
  type: 'installment.settled.v1',
  data: `{"note":"${'n'.repeat(300)}"}` as JsonText,
  metadata: {
    correlationId: randomUUID(),
    causationId: randomUUID(),
    actor: 'originator-1',
    applicationId: 'application-1',
    recordedAt: '2026-01-15T12:00:00.000Z',
    hash: '9f'.repeat(32),
  },
});

const appendForEver = async (stream: string): Promise<never> => {
  let expected = await store.head(stream);
  for (let round = 0; ; round++) {
    const events = Array.from({ length: 1 + (round % 3) }, newEvent);
    const claim = { applicationId: 'application-1', endpoint: 'POST /loan', key: events[0]?.id ?? '' };
    const { revision } = await store.append(stream, expected, events, claim);
    const first = revision - BigInt(events.length - 1);
    writeSync(1, events.map(({ id }, n) => `${stream} ${first + BigInt(n)} ${id}\n`).join(''));
    expected = revision;
  }
};

await Promise.all(Array.from({ length: Number(streams) }, (_, n) => appendForEver(`loan-a.${n}`)));
