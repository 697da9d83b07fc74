import { randomUUID } from 'node:crypto';
import { afterEach, expect, test } from '@jest/globals';
import { readConfiguration } from '../../../infrastructure/composition/configuration.ts';
import { openFoundations } from '../../../infrastructure/composition/foundations.ts';
import { startService } from '../../../infrastructure/composition/service.ts';
import { ApiClient, loanRequest } from '../../support/api-client.ts';
import { EventStoreDbStandIn } from '../../support/eventstoredb/stand-in.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import { freePort } from '../../support/service-process.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { within } from '../../support/within.ts';

const cleanUps: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

const standIn = async (): Promise<EventStoreDbStandIn> => {
  const server = await EventStoreDbStandIn.start();
  cleanUps.push(() => server.kill());
  return server;
};

interface Started {
  readonly service: Awaited<ReturnType<typeof startService>>;
  readonly baseUrl: string;
  readonly api: ApiClient;
}

const start = async (dataDir: string, { url }: EventStoreDbStandIn): Promise<Started> => {
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const variables = { DATA_DIR: dataDir, EVENTSTORE_URL: url, METRICS_PORT: 'off', SANDBOX_STEP: '0ms' };
  const address = { HOST: '127.0.0.1', PORT: String(port), PUBLIC_URL: baseUrl, AUTH_URL: baseUrl };
  const configuration = readConfiguration({ ...variables, ...address });
  const foundations = await openFoundations(configuration, new RecordingLogger(), { part: 'service' });
  const service = await startService(foundations);
  const client = await service.parts.clients.create({ name: 'test', fundIds: [randomUUID()] });
  const api = new ApiClient(baseUrl, {
    client_id: client.clientId,
    client_secret: client.clientSecret,
    application_id: client.applicationId,
    fund_ids: client.fundIds,
  });
  return { service, baseUrl, api };
};

test('another or an older EventStoreDB, and an empty database behind one, are refused at the start', async () => {
  const [dataDir, server] = [temporaryDirectory(), await standIn()];
  const { service, api } = await start(dataDir, server);
  for (const code of ['A', 'B']) {
    expect((await api.assign(loanRequest(api.fund, code, 1))).status).toBe(201);
    await api.untilStatus(code, 'active');
  }
  await service.stop();
  await expect(start(dataDir, await standIn())).rejects.toThrow(
    /^EVENTSTORE_URL: the event log is older than \S+, which follows it: .*lies beyond the end \(empty\)[^\n]*$/,
  );
  await expect(start(temporaryDirectory(), server)).rejects.toThrow(
    /service\.db is empty, and the event store holds events/,
  );
  const again = await start(dataDir, server);
  await again.service.stop();
});

test('an EventStoreDB that becomes older while the service runs takes no writes, and readiness says so', async () => {
  const server = await standIn();
  const { service, api, baseUrl } = await start(temporaryDirectory(), server);
  cleanUps.push(() => service.stop());
  for (const code of ['A', 'B']) {
    await api.assign(loanRequest(api.fund, code, 1));
    await api.untilStatus(code, 'active');
  }
  server.log.cutBehind(server.log.events[0]!.position);
  await within('readiness to fail', 20_000, async () => {
    const ready = await fetch(`${baseUrl}/health/ready`);
    return (await ready.text()).includes('event_store: failing');
  });
  const refused = await api.assign(loanRequest(api.fund, 'C', 1));
  expect([refused.status, refused.body.error_code]).toEqual([503, 'service_unavailable']);
}, 60_000);
