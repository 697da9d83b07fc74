import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { backupsOf } from '../../infrastructure/composition/data-directory.ts';
import { ApiClient, loanRequest } from '../support/api-client.ts';
import { commandLine } from '../support/command-line.ts';
import { untilReady } from '../support/mortal-service.ts';
import { RunningService } from '../support/running-service.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

let service: RunningService;
let directory: string;
beforeEach(async () => {
  directory = temporaryDirectory();
});
afterEach(async () => {
  await service.stop();
});

/** What is written over in an event of the operation of this name, in the middle of the log. */
const DAMAGES: Readonly<Record<string, string>> = {
  'METADATA-CUT': `metadata = substr(metadata, 1, 40)`,
  'METADATA-GONE': `metadata = '{}'`,
  'METADATA-BYTES': `metadata = cast(x'a5a5a5a5' as text)`,
  'DATA-CUT': `data = substr(data, 1, 20)`,
  'DATA-BYTES': `data = cast(x'7ba5a5a57d' as text)`,
  TYPE: `type = 'loan.other.v1'`,
};
const IN_LOG = new Set(['chain', 'event', 'decision', 'log', 'claim', 'seal']);
const CHANGED = { HASH: `metadata = json_set(metadata, '$.hash', '${'0'.repeat(64)}')` };

test('events that were written over in the middle of the log keep their own operations waiting, and no other', async () => {
  const DATA_DIR = join(directory, 'data');
  service = await RunningService.start({ DATA_DIR });
  const [bad, good] = [randomUUID(), randomUUID()];
  const credentials = [await service.createClient(bad), await service.createClient(good)];
  const clients = () => credentials.map((one) => new ApiClient(service.baseUrl, one));
  let [ofBad, ofGood] = clients() as [ApiClient, ApiClient];
  const codes = [...Object.keys(DAMAGES), ...Object.keys(CHANGED)];
  for (const code of codes) {
    expect((await ofBad.assign(loanRequest(bad, code, 2))).status).toBe(201);
    await ofBad.untilStatus(code, 'active');
  }
  expect((await ofGood.assign(loanRequest(good, 'GOOD', 3))).status).toBe(201);
  await ofGood.untilStatus('GOOD', 'active');
  await service.service.stop();

  // Nothing has passed them yet: every follower begins anew.
  const file = new DatabaseSync(join(DATA_DIR, 'events.db'));
  file.exec('DROP TRIGGER events_never_change');
  for (const [code, change] of Object.entries({ ...DAMAGES, ...CHANGED }))
    file.exec(
      `UPDATE events SET ${change} WHERE revision = 1 AND stream_id = (SELECT id FROM streams WHERE name LIKE '%.${code}')`,
    );
  file.close();
  await rm(join(DATA_DIR, 'read-model-1.db'));
  const places = new DatabaseSync(join(DATA_DIR, 'service.db'));
  places.exec('DELETE FROM checkpoint; DELETE FROM log_seal; DELETE FROM log_seal_head');
  places.close();

  service = await RunningService.start({ DATA_DIR });
  [ofBad, ofGood] = clients() as [ApiClient, ApiClient];
  await untilReady(service);
  expect((await ofGood.settle('GOOD', '001', 950)).status).toBe(200);
  expect((await ofGood.readable('GOOD')).body.balances.received_value).toBe(950);
  expect((await ofBad.assign(loanRequest(bad, 'NEW', 1))).status).toBe(201);
  await ofBad.untilStatus('NEW', 'active');
  const feed = (await ofGood.call('GET', '/event')).body;
  expect(feed.data.at(-1).event).toBe('installment_settled');
  expect((await ofBad.loan('METADATA-CUT')).status).toBe(503);
  expect((await ofBad.loan('HASH')).status).toBe(200);

  const parts = service.service.parts;
  const run = commandLine(() => parts);
  const waiting = async () =>
    (await run('quarantine', 'list', '-o', 'json')).lines.map(
      (line: { waits_for: string; originator_proposal_code: string }) =>
        `${line.waits_for} ${line.originator_proposal_code}`,
    );
  const expected = Object.keys(DAMAGES)
    .flatMap((code) => [`loan ${code}`, `publishing ${code}`])
    .sort();
  while ((await waiting()).length < expected.length) await new Promise((resolve) => setTimeout(resolve, 20));
  expect((await waiting()).sort()).toEqual(expected);

  const rebuilt = await run('projections', 'rebuild');
  expect([rebuilt.code, rebuilt.err]).toEqual([0, expect.anything()]);
  const verify = async () => (await run('audit', 'verify', '-o', 'json')).lines;
  const differences = await verify();
  const told = new Set(differences.map(({ stream }: { stream: string }) => stream?.split('.')[1]));
  for (const code of codes) expect(told).toContain(code);
  expect(told).not.toContain('GOOD');
  expect(told).not.toContain('NEW');

  const of = ['--application', credentials[0]!.application_id, '--including-open', '--yes'];
  const forget = (...more: readonly string[]) =>
    run('borrower', 'forget', '--document', '52998224725', ...of, ...more);
  const some = await forget();
  const counts = {
    forgotten: codes.length + 1 - Object.keys(DAMAGES).length,
    unreadable: Object.keys(DAMAGES).length,
  };
  expect([some.code, some.lines]).toMatchObject([1, [counts]]);
  const rest = await forget('--including-unreadable');
  expect([rest.code, rest.lines]).toMatchObject([0, [{ forgotten: counts.unreadable, unreadable: 0 }]]);
  const database = new DatabaseSync(join(DATA_DIR, 'service.db'), { readOnly: true });
  const keys = database.prepare(`SELECT name FROM wrapped_key WHERE name LIKE 'operation:%'`).all();
  database.close();
  expect(keys.map(({ name }) => String(name).split('.')[1])).toEqual(['GOOD']);
  const backups = backupsOf({ DATA_DIR });
  const backed = await commandLine(() => parts, { backups })('backup', '--to', join(directory, 'backup'));
  expect([backed.code, backed.lines]).toMatchObject([4, [{ verified: true, damaged_events: 11 }]]);
  // The record is what the audit expects of it; read models have it when the operation is let out.
  const inLog = (found: readonly { readonly kind: string }[]) =>
    found.flatMap((one) => (IN_LOG.has(one.kind) ? [JSON.stringify(one)] : [])).sort();
  expect(inLog(await verify())).toEqual(inLog(differences));
});
