import { expect, test } from '@jest/globals';
import { SqliteEventStore } from '../../../../infrastructure/sqlite/event-log/sqlite-event-store.ts';
import { deskOver, linesOf } from '../../../support/desk-over.ts';
import { openAtStandIn } from '../../../support/eventstoredb/open-store.ts';
import { movedTo } from '../../../support/moving/moved-to.ts';
import { writeSource } from '../../../support/moving/source-directory.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

test('the desk log of the embedded store moves to EventStoreDB, where it goes on', async () => {
  const directory = temporaryDirectory();
  await writeSource(directory, {}, 10);
  const before = await SqliteEventStore.open(directory);
  const who = { way: 'console', name: 'Ana' } as const;
  await deskOver({ events: before }).record(
    who,
    [{ action: 'signed_in' }, { action: 'viewed' }],
    'session-1',
  );
  const lines = await linesOf(deskOver({ events: before }));
  await before.close();
  await using at = await openAtStandIn();
  await movedTo(at.store, directory);
  const after = deskOver({ events: at.store });
  expect(await linesOf(after)).toEqual(lines);
  await after.record(who, [{ action: 'signed_out' }], 'session-1');
  expect((await linesOf(after)).map(({ action }) => action)).toEqual(['signed_in', 'viewed', 'signed_out']);
});
