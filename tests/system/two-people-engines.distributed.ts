import { randomBytes, randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Kafka, logLevel } from 'kafkajs';
import type { Producer } from 'kafkajs';
import { operationKey } from '../../application/publication/bus-message.ts';
import { TOPICS } from '../../application/publication/catalogue.ts';
import { ApiClient, loanRequest } from '../support/api-client.ts';
import { commandLineBeside } from '../support/command-line-beside.ts';
import { StandInProcess } from '../support/eventstoredb/stand-in-process.ts';
import { testKafka } from '../support/kafka/test-kafka.ts';
import type { TestKafka } from '../support/kafka/test-kafka.ts';
import { testPostgres } from '../support/postgres/test-postgres.ts';
import type { TestPostgres } from '../support/postgres/test-postgres.ts';
import { RunningService } from '../support/running-service.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/within.ts';

/** One fund believes names, the other one only who is signed in; nobody signs in here. */
let [stated, signedIn]: readonly ApiClient[] = [];
let [application, other] = ['', ''];
const directory = temporaryDirectory();
let [cluster, postgres, store]: [TestKafka?, TestPostgres?, StandInProcess?] = [];
let prefix: string;
let producer: Producer;
let service: RunningService;
let receivables: ReturnType<typeof commandLineBeside>;

const covered = ['--decision', 'approve:0', '--decision', 'reject:0'];

beforeAll(async () => {
  [cluster, postgres] = await Promise.all([testKafka(), testPostgres()]);
  store = await StandInProcess.start(directory);
  prefix = cluster.prefix();
  const engines = {
    ENVIRONMENT: 'production',
    MASTER_KEY: randomBytes(32).toString('base64'),
    KAFKA_BROKERS: cluster.brokers.join(','),
    KAFKA_TOPIC_PREFIX: prefix,
    DATABASE_URL: await postgres.schema(),
    EVENTSTORE_URL: store.url,
    METRICS_PORT: 'off',
  };
  service = await RunningService.start(engines);
  receivables = commandLineBeside({ ...engines, DATA_DIR: directory });
  const clients = await Promise.all([service.createClient(randomUUID()), service.createClient(randomUUID())]);
  [stated, signedIn] = clients.map((client) => new ApiClient(service.baseUrl, client));
  [application, other] = clients.map((client) => client.application_id) as [string, string];
  producer = new Kafka({ brokers: [...cluster.brokers], logLevel: logLevel.NOTHING }).producer();
  await producer.connect();
  for (const [{ fund }, evidence] of [
    [stated!, 'stated'],
    [signedIn!, 'signed-in'],
  ] as const) {
    const rule = ['--fund', fund, ...covered, '--evidence', evidence, '--operator', 'Root'];
    expect(await receivables('fund', 'four-eyes', ...rule)).toMatchObject({ code: 0, err: '' });
  }
}, 300_000);
afterAll(async () => {
  await producer?.disconnect();
  await service?.stop();
  await store?.kill();
  await Promise.all([cluster?.close(), postgres?.close()]);
});

const assign = async (api: ApiClient, code: string): Promise<void> => {
  const loan = loanRequest(api.fund, code, 2, { date_issued: '2024-01-15' });
  expect((await api.assign(loan)).status).toBe(201);
  await api.untilStatus(code, 'received');
};
const first = (id: string, code: string, operator: string, of = application) => ({
  decision_id: id,
  application_id: of,
  ...{ originator_proposal_code: code, decision: 'approve', operator },
});
const second = (id: string, decision: string, of: string, operator: string) => ({
  ...{ decision_id: id, decision, first_decision_id: of, operator },
});
const send = (code: string, ...decisions: readonly object[]) =>
  producer.send({
    topic: prefix + TOPICS.decisions,
    messages: decisions.map((one) => ({ key: operationKey(application, code), value: JSON.stringify(one) })),
  });
const apply = async (...decisions: readonly object[]) => {
  const file = join(directory, `${randomUUID()}.jsonl`);
  await writeFile(file, decisions.map((one) => JSON.stringify(one)).join('\n'));
  const { code, lines } = await receivables('administrator', 'apply', '--file', file, '--operator', 'Root');
  return [code, ...lines.map(({ outcome, reason }) => reason?.code ?? outcome)];
};
/** What the topic's lines of the desk log say of an operation. */
const told = async (code: string): Promise<readonly string[]> =>
  (await receivables('desk', 'log', '-o', 'json', '--code', code)).lines
    .filter(({ way }) => way === 'topic')
    .map(({ name, action, outcome, decision, reason }) =>
      [name, action, reason ?? outcome, decision].join(' '),
    );
const untilTold = (code: string, line: string) =>
  until(async () => (await told(code)).includes(line), `${line} of ${code}`);
const awaiting = async () =>
  (await receivables('administrator', 'awaiting', '-o', 'json')).lines.map(
    ({ first_decision_id: id, originator_proposal_code: code, by }) => [id, code, by],
  );

test('by the topic: one decides, another one confirms, and a replay confirms nothing', async () => {
  await assign(stated!, 'OP-1');
  await send('OP-1', first('T-1', 'OP-1', 'Ana'), first('T-1', 'OP-1', 'Bia'));
  await untilTold('OP-1', 'Bia decided awaiting_confirmation approve');
  expect(await awaiting()).toEqual([['T-1', 'OP-1', 'Ana']]);
  expect((await stated!.loan('OP-1')).body.status).toBe('received');
  await send(
    'OP-1',
    second('T-2', 'confirm', 'T-1', 'ANA'),
    second('T-3', 'confirm', 'T-1', 'Bia'),
    second('T-4', 'confirm', 'T-1', 'Caio'),
    second('T-5', 'withdraw', 'T-1', 'Ana'),
  );
  await stated!.untilStatus('OP-1', 'approved');
  await untilTold('OP-1', 'Ana refused decision_void withdraw');
  expect(await told('OP-1')).toEqual(
    expect.arrayContaining([
      'ANA refused own_decision confirm',
      'Bia confirmed applied confirm',
      'Caio confirmed already_applied confirm',
    ]),
  );
  expect(await awaiting()).toEqual([]);
}, 300_000);

test('by file and command: decided, withdrawn, made anew and confirmed, each once', async () => {
  await assign(stated!, 'OP-2');
  const decided = first('F-1', 'OP-2', 'Ana');
  expect(await apply(decided, decided)).toEqual([0, 'awaiting_confirmation', 'awaiting_confirmation']);
  expect(await apply(first('F-2', 'OP-2', 'Bia'), second('F-3', 'withdraw', 'F-1', 'Ana'))).toEqual([
    3,
    'already_awaiting',
    'applied',
  ]);
  expect(await apply(decided, second('F-4', 'confirm', 'F-1', 'Bia'))).toEqual([
    3,
    ...['decision_void', 'decision_void'],
  ]);
  const anew = first('F-5', 'OP-2', 'Ana');
  expect(await apply(anew)).toEqual([0, 'awaiting_confirmation']);
  const confirm = (operator: string) =>
    receivables('administrator', 'confirm', 'F-5', '--operator', operator);
  expect(await confirm('ana')).toMatchObject({ code: 3, lines: [{ reason: { code: 'own_decision' } }] });
  const answers = await Promise.all([confirm('Bia'), confirm('Caio')]);
  expect(answers.map(({ code, lines }) => [code, lines[0].outcome]).toSorted()).toEqual([
    [0, 'already_applied'],
    [0, 'applied'],
  ]);
  expect(await apply(anew, decided)).toEqual([3, 'already_applied', 'decision_void']);
  await stated!.untilStatus('OP-2', 'approved');
}, 300_000);

test('where the fund asks who is signed in, no name decides, by whatever way', async () => {
  await assign(signedIn!, 'OP-3');
  const decided = first('N-1', 'OP-3', 'Ana', other);
  await send('OP-3', decided);
  await untilTold('OP-3', 'Ana refused evidence_missing approve');
  expect(await apply(decided)).toEqual([3, 'evidence_missing']);
  const typed = ['approve', 'OP-3', '--application', other, '--operator', 'Bia'];
  expect(await receivables('administrator', ...typed)).toMatchObject({
    code: 3,
    err: expect.stringContaining('evidence_missing'),
  });
  const weaker = ['--fund', signedIn!.fund, '--off', '--operator', 'Bia'];
  expect(await receivables('fund', 'four-eyes', ...weaker)).toMatchObject({
    code: 3,
    err: expect.stringContaining('two people who are signed in'),
  });
  expect((await signedIn!.loan('OP-3')).body.status).toBe('received');
}, 300_000);

test('an audit finds that each had the eyes which its rule asked for', async () => {
  const { code, err } = await receivables('audit', 'verify', '-o', 'json');
  expect([code, err]).toEqual([0, '']);
}, 300_000);
