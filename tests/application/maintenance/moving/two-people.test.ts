import { beforeEach, expect, test } from '@jest/globals';
import {
  FOUR_EYES_STREAM,
  decisionStreamOf,
  loanStream,
} from '../../../../application/command-handling/operation.ts';
import { SqliteEventStore } from '../../../../infrastructure/sqlite/event-log/sqlite-event-store.ts';
import { openAtStandIn } from '../../../support/eventstoredb/open-store.ts';
import { movedTo } from '../../../support/moving/moved-to.ts';
import { writeSource } from '../../../support/moving/source-directory.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';
import {
  APPLICATION,
  ana,
  audited,
  bia,
  decide,
  deskOver,
  receive,
  ruleOf,
  second,
  setRule,
  told,
} from '../../../support/two-people-desk.ts';

let directory: string;
beforeEach(async () => {
  directory = temporaryDirectory();
});

test('what two people decided moves to EventStoreDB, with its keys, and what awaits is confirmed there', async () => {
  await writeSource(directory, {}, 10);
  const before = await SqliteEventStore.open(directory);
  for (const code of ['OP-1', 'OP-2']) {
    await receive(before, code);
    if (code === 'OP-1') await setRule(deskOver(before), ruleOf('stated', ['approve', 0]), ana);
    expect(told(await decide(deskOver(before), 'approve', ana, { code, id: code }))).toBe(
      'awaiting_confirmation',
    );
  }
  expect(told(await second(deskOver(before), 'confirm', bia, { first: 'OP-1', id: 'S' }))).toBe('applied');
  const streams = [
    FOUR_EYES_STREAM,
    ...['OP-1', 'OP-2'].map((code) => decisionStreamOf(loanStream(APPLICATION, code))),
  ];
  const contentsOf = async (store: Pick<SqliteEventStore, 'read'>) =>
    Promise.all(
      streams.map(async (stream) =>
        (await store.read(stream)).events.map(({ id, type, data, metadata }) => ({
          id,
          type,
          data,
          metadata,
        })),
      ),
    );
  const stored = await contentsOf(before);
  await before.close();
  await using at = await openAtStandIn();
  await movedTo(at.store, directory);
  expect(await contentsOf(at.store as never)).toEqual(stored);
  const desk = deskOver(at.store);
  expect(told(await second(desk, 'confirm', bia, { first: 'OP-1' }))).toBe('already_applied');
  expect(told(await second(desk, 'confirm', ana, { first: 'OP-2' }))).toBe('own_decision');
  expect(told(await second(desk, 'confirm', bia, { first: 'OP-2', id: 'S' }))).toBe('idempotency_conflict');
  expect(told(await second(desk, 'confirm', bia, { first: 'OP-2' }))).toBe('applied');
  expect([...(await audited(at.store)), ...(await audited(at.store, 'OP-2'))]).toEqual([]);
});
