import { beforeEach, expect, test } from '@jest/globals';
import { FUND_NAMES_STREAM } from '../../../../application/command-handling/operation.ts';
import { SqliteEventStore } from '../../../../infrastructure/sqlite/event-log/sqlite-event-store.ts';
import { openAtStandIn } from '../../../support/eventstoredb/open-store.ts';
import { fundsOver } from '../../../support/funds-over.ts';
import { movedTo } from '../../../support/moving/moved-to.ts';
import { writeSource } from '../../../support/moving/source-directory.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const FUNDS = ['0', '1', '2'].map((digit) => `${digit}b0e4a3c-6f57-4d0e-8a3b-1d2c3b4a5f60`);
let directory: string;
beforeEach(async () => {
  directory = temporaryDirectory();
});

test('names that were given at once in the embedded log move to EventStoreDB, where they go on', async () => {
  await writeSource(directory, {}, 10);
  const before = await SqliteEventStore.open(directory);
  await Promise.all(
    FUNDS.map((fundId, i) =>
      fundsOver({ events: before }).name({ fundId, name: `Fund ${i}`, operator: 'Ana' }),
    ),
  );
  const { events } = await before.read(FUND_NAMES_STREAM);
  await before.close();
  await using at = await openAtStandIn();
  await movedTo(at.store, directory);
  const after = fundsOver({ events: at.store });
  const same = ({ id, data, metadata }: (typeof events)[number]) => ({ id, data, metadata });
  expect((await at.store.read(FUND_NAMES_STREAM)).events.map(same)).toEqual(events.map(same));
  const taken = after.name({ fundId: FUNDS[0]!, name: 'FUND 1', operator: 'Ana' });
  await expect(taken).rejects.toThrow('has the name Fund 1');
  await after.name({ fundId: FUNDS[0]!, name: 'Aurora', operator: 'Ana' });
  expect([...(await after.names()).values()]).toEqual(expect.arrayContaining(['Aurora', 'Fund 1', 'Fund 2']));
});

test('a follower of the whole log is shown the names on EventStoreDB', async () => {
  await using at = await openAtStandIn();
  await fundsOver({ events: at.store }).name({ fundId: FUNDS[0]!, name: 'Aurora', operator: 'Ana' });
  const stopping = new AbortController();
  for await (const message of at.store.subscribe({ from: 'start', signal: stopping.signal })) {
    if (message.kind !== 'events') continue;
    expect(message.events.map(({ stream, type }) => [stream, type])).toEqual([
      [FUND_NAMES_STREAM, 'fund.named.v1'],
    ]);
    stopping.abort();
  }
});
