import { randomUUID } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { chainEvents, encodeEvent } from '../../application/event-codec/event-codec.ts';
import type { Timestamp } from '../../domain/shared/identifiers.ts';
import { SqliteEventStore } from '../../infrastructure/sqlite/event-log/sqlite-event-store.ts';
import { ApiClient, loanRequest } from '../support/api-client.ts';
import type { ClientCredentials } from '../support/api-client.ts';
import { auditOf } from '../support/audited-world.ts';
import { receivablesOn } from '../support/command-line-beside.ts';
import { RunningService } from '../support/running-service.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** A dozen commands, each with stores of its own. */
jest.setTimeout(240_000);

/** The sandbox's own administrator, whom no rule binds, is in no hurry. */
const SETTINGS = { SANDBOX_STEP: '1d' };
const fund = randomUUID();
const directory = temporaryDirectory();
let [dataDir, restored] = ['', ''];
let service: RunningService | undefined;
/** On the directory that the service runs on. */
let receivables: ReturnType<typeof receivablesOn>;
let api: ApiClient;
let applicationId: string;
let client: ClientCredentials;

beforeAll(async () => {
  [dataDir, restored] = ['data', 'restored'].map((name) => join(directory, name)) as [string, string];
  receivables = receivablesOn(dataDir);
  service = await RunningService.start({ DATA_DIR: dataDir, ...SETTINGS });
  client = await service.createClient(fund);
  api = new ApiClient(service.baseUrl, client);
  for (const code of ['A', 'B', 'C']) expect((await api.assign(loanRequest(fund, code, 4))).status).toBe(201);
  const [of] = JSON.parse(
    `[${(await receivables('administrator', 'pending')).trim().split('\n').join(',')}]`,
  );
  applicationId = (of as { application_id: string }).application_id;
});
afterAll(() => service?.stop());

const administrator = (...args: readonly string[]) => receivables('administrator', ...args);
const codeOf = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 0,
    (error: unknown) => (error as { code?: unknown }).code,
  );

test('a rule binds the command line at once, and nothing of it is seen by integrators', async () => {
  const loan = await api.call('GET', '/loan/A');
  const events = await receivables('events');
  await receivables(
    ...[
      'fund',
      'four-eyes',
      '--fund',
      fund,
      '--decision',
      'approve:0',
      'sign_term:0',
      '--evidence',
      'stated',
    ],
  );
  const first = JSON.parse(await administrator('approve', 'A', '--operator', 'Ana', '--id', 'D-A'));
  expect(first).toMatchObject({
    outcome: 'awaiting_confirmation',
    first_decision_id: 'D-A',
    status: 'received',
  });
  expect((await api.call('GET', '/loan/A')).body).toEqual(loan.body);
  expect(await receivables('events')).toBe(events);
  expect(JSON.parse(await administrator('awaiting'))).toMatchObject({
    ...{ first_decision_id: 'D-A', application_id: applicationId, originator_proposal_code: 'A' },
    ...{ fund_id: fund, decision: 'approve', by: 'Ana' },
  });
  expect(await codeOf(administrator('confirm', 'D-A', '--operator', ' ana '))).toBe(3);
  expect(JSON.parse(await administrator('confirm', 'D-A', '--operator', 'Bia'))).toMatchObject({
    outcome: 'applied',
  });
  await api.untilStatus('A', 'approved');
  expect(await receivables('events')).not.toMatch(/Ana|Bia|four_eyes|decision\./);
});

test('what awaits survives read models that are lost', async () => {
  await administrator('approve', 'B', '--operator', 'Ana', '--id', 'D-B');
  await service?.stop();
  for (const file of readdirSync(dataDir).filter((one) => one.startsWith('read-model')))
    rmSync(join(dataDir, file));
  service = await RunningService.start({ DATA_DIR: dataDir, ...SETTINGS });
  expect(JSON.parse(await administrator('awaiting', '--fund', fund))).toMatchObject({
    first_decision_id: 'D-B',
  });
  await receivables('projections', 'rebuild');
});

test('a backup holds it, and an audit walks it: decisions, rules and their keys', async () => {
  const copy = join(directory, 'copy');
  await receivables('backup', '--to', copy, '--with-key');
  await receivables('restore', '--from', copy, '--data-dir', restored);
  await service?.stop();
  service = await RunningService.start({ DATA_DIR: restored, ...SETTINGS });
  receivables = receivablesOn(restored);
  const confirmed = await administrator('confirm', '--all', '--fund', fund, '--count', '1', '--sum', '3344');
  expect(JSON.parse(confirmed)).toMatchObject({ first_decision_id: 'D-B', outcome: 'applied' });
  const summary = JSON.parse(await receivables('audit', 'verify', '-o', 'json'));
  expect(summary).toMatchObject({ differences: 0, streams: 8 });
  const ofFund = await receivables('audit', 'verify', '-o', 'json', '--fund', fund);
  expect(JSON.parse(ofFund)).toMatchObject({ differences: 0, streams: 5 });
  await service?.stop();
});

test('a decision by one person that somebody writes into the log is a difference', async () => {
  const stream = `loan-${applicationId}.C`;
  const store = await SqliteEventStore.open(restored);
  try {
    const { events, revision } = await store.read(stream);
    const last = events.at(-1)!.metadata;
    const later = new Date(Date.now() + 60_000).toISOString() as Timestamp;
    const planted = encodeEvent({ type: 'LoanApproved', approvedAt: later, decision: { decidedAt: later } });
    const { idempotency: _, ...metadata } = last;
    const cause = { correlationId: 'planted', causationId: 'planted', actor: 'administrator/Ana' };
    const event = { id: randomUUID(), ...planted, metadata: { ...metadata, ...cause, recordedAt: later } };
    await store.append(stream, revision, chainEvents(last.hash, stream, [event]));
  } finally {
    await store.close();
  }
  service = await RunningService.start({ DATA_DIR: restored, ...SETTINGS });
  // Its read models have taken it in: what is left to find is the decision.
  await new ApiClient(service.baseUrl, client).untilStatus('C', 'approved');
  await service?.stop();
  const { code, lines } = await auditOf(restored, ['verify', '-o', 'json']);
  expect([code, lines.slice(0, -1)]).toMatchObject([
    4,
    [{ kind: 'decision', stream, revision: 1, what: 'four_eyes' }],
  ]);
});
