import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { status } from '@grpc/grpc-js';
import { ApiClient, loanRequest } from '../../support/api-client.ts';
import { commandLine } from '../../support/command-line.ts';
import { EventStoreDbStandIn } from '../../support/eventstoredb/stand-in.ts';
import { failure } from '../../support/eventstoredb/wire.ts';
import { RunningService } from '../../support/running-service.ts';
import { freePort } from '../../support/service-process.ts';
import { until } from '../../support/within.ts';

const fund = randomUUID();
let standIn: EventStoreDbStandIn;
let service: RunningService;
let api: ApiClient;
let application: string;
let metricsPort: number;

beforeAll(async () => {
  standIn = await EventStoreDbStandIn.start();
  metricsPort = await freePort();
  service = await RunningService.start({
    EVENTSTORE_URL: standIn.url,
    WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true',
    METRICS_PORT: String(metricsPort),
  });
  const client = await service.createClient(fund);
  application = client.application_id;
  api = new ApiClient(service.baseUrl, client);
}, 60_000);
afterAll(async () => {
  await service?.stop();
  await standIn?.kill();
});

/** Nothing falls due, so that the log stands still when the operation is active. */
const lasting = (code: string): object =>
  loanRequest(fund, code, 1, {
    installments: [{ code: '001', due_date: '2099-01-15', face_value: 1_950 }],
  });

/** Whether the log fits is looked at once a second: what is refused until then is sent again. */
const taken = async (code: string): Promise<void> => {
  await until(async () => (await api.assign(lasting(code))).status === 201, `${code} to be taken`);
  try {
    await api.untilStatus(code, 'active');
  } catch (error) {
    const types = standIn.log.stream(`loan-${application}.${code}`).map(({ type }) => type);
    const { lines } = await commandLine(() => service.service.parts)('followers', 'list');
    const told = service.logger.lines.filter(({ level }) => level !== 'debug').slice(-20);
    throw new Error(JSON.stringify({ types, followers: lines, told }), { cause: error });
  }
};

test('moments in which events come too fast are counted in the metrics', async () => {
  const slow = async (): Promise<number> => {
    const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    return Number(/^receivables_subscription_slow_moments_total (\d+)$/m.exec(text)?.[1]);
  };
  expect(await slow()).toBe(0);
  await until(() => standIn.openSubscriptions > 0, 'the subscription');
  const tooSlow = 'Consumer too slow to handle event while live. Client resubscription required.';
  standIn.dropSubscriptions(failure(status.ABORTED, `Operation timed out: ${tooSlow}`));
  await until(async () => (await slow()) > 0, 'the moment to be counted');
});

test('an older state of the log alone was restored: each follower says so, and its command mends it', async () => {
  const services = service.service.parts;
  const run = commandLine(() => services);
  const hook = { url: 'https://127.0.0.1:9/hooks', events: ['loan_received'] };
  const webhook = (await api.call('POST', '/webhook', hook)).body.webhook_id;
  const published = async (): Promise<readonly string[]> => {
    const { body } = await api.call('GET', `/webhook/${webhook}/deliveries`);
    return body.data.map((one: { originator_proposal_code: string }) => one.originator_proposal_code);
  };
  const misfits = async (): Promise<readonly string[]> =>
    (await run('followers', 'list')).lines.flatMap(({ follower, problem }) => (problem ? [follower] : []));

  await taken('KEPT');
  const { position, metadata } = (
    await service.service.parts.eventStore.read(`loan-${application}.KEPT`)
  ).events.at(-1)!;
  await taken('LOST');
  await until(async () => (await published()).includes('LOST'), 'what is lost later to be published');
  const end = standIn.log.events.at(-1)!.position;
  // What a follower was handed before the log was cut would still move its place afterwards: the last event asks something of both.
  const atEnd = async (): Promise<boolean> => {
    const { lines } = await run('followers', 'list');
    return ['outbox-relay', 'renegotiation-completion'].every((name) =>
      lines.some(({ follower, position }) => follower === name && Number(position.split('/')[0]) >= end),
    );
  };
  await until(atEnd, 'the relay and the completion to be at the end');
  standIn.log.cutBehind(Number(position.split('/')[0]));
  standIn.dropSubscriptions();

  const followers = await misfits();
  expect(followers).toContain('outbox-relay');
  const rebuilt = await run('projections', 'rebuild');
  expect([rebuilt.code, rebuilt.lines.at(-1)]).toEqual([0, expect.objectContaining({ outcome: 'switched' })]);
  for (const follower of followers) {
    const moved = await run('followers', 'move', follower, '--after', metadata.recordedAt);
    expect([moved.code, moved.err]).toEqual([0, '']);
  }
  expect(await misfits()).toEqual([]);
  expect([(await api.loan('KEPT')).status, (await api.loan('LOST')).status]).toEqual([200, 404]);
  // Of another length: its events stand where none of the lost ones did.
  await taken('LATER-ONE');
  await until(async () => (await published()).includes('LATER-ONE'), 'what came later to be published');
}, 90_000);
