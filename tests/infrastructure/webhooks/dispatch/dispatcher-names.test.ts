import { afterAll, afterEach, beforeEach, expect, test } from '@jest/globals';
import {
  DnsAddressGuard,
  NameResolver,
} from '../../../../infrastructure/webhooks/addresses/address-guard.ts';
import { DnsQueries } from '../../../../infrastructure/webhooks/addresses/dns-queries.ts';
import { HttpsSender } from '../../../../infrastructure/webhooks/sending/https-sender.ts';
import { webhookTrust } from '../../../../infrastructure/webhooks/sending/receiver-connections.ts';
import type { Located } from '../../../../infrastructure/webhooks/sending/webhook-sender.ts';
import { DnsServer } from '../../../support/dns-server.ts';
import { openServiceDatabase } from '../../../support/sql/temporary-database.ts';
import { DispatchWorld } from '../support/dispatch-world.ts';
import { until } from '../../../support/within.ts';

/* What waits for a name server keeps nobody else waiting. */

const NEIGHBOUR = 'https://neighbour.example/';
const NEVER = new Promise<Located>(() => undefined);
/** As few places as one endpoint may take, so that a single one held too long would be noticed. */
const FEW_SLOTS = {
  slots: 8,
  slotsForFirstAttempts: 2,
  slotsPerEndpoint: 8,
  timeoutMs: 60_000,
  leaseMs: 90_000,
};

let world: DispatchWorld;
const store = await openServiceDatabase();
afterAll(() => store.close());
beforeEach(() => {
  world = new DispatchWorld(store.database);
});
afterEach(() => world.close());

const eventsOf = (count: number, code: string) =>
  Array.from({ length: count }, (_, index) => world.event(`${code}-${index}`));

/** Endpoints whose names nobody answers for, each with more to send than it may have under way. */
const subscribeSilent = async (count: number): Promise<string[]> => {
  const webhookIds: string[] = [];
  for (let index = 0; index < count; index++) {
    const webhookId = await world.subscribe(`https://silent-${index}.example/`);
    await world.enqueue(webhookId, eventsOf(10, `SILENT-${index}`));
    webhookIds.push(webhookId);
  }
  return webhookIds;
};

test('lanes that wait for a name hold no place: the neighbour sends everything meanwhile', async () => {
  const silent = await subscribeSilent(20);
  const neighbour = await world.subscribe(NEIGHBOUR);
  const { dispatcher, sender } = world.worker({ settings: FEW_SLOTS });
  let asked = 0;
  sender.resolved = (url) => {
    if (url === NEIGHBOUR) return undefined;
    asked += 1;
    return NEVER;
  };
  dispatcher.start();
  dispatcher.wake(silent);
  await until(() => asked >= 20, 'a question about every silent name');
  await world.enqueue(neighbour, eventsOf(40, 'NEIGHBOUR'));
  dispatcher.wake([neighbour]);
  await world.untilDelivered(neighbour, 40);
  // The limit of one endpoint counts what waits for its name.
  expect(asked).toBeLessThanOrEqual(20 * FEW_SLOTS.slotsPerEndpoint);
  expect(sender.mostAtOnce).toBeLessThanOrEqual(FEW_SLOTS.slots);
});

test('stopping gives back the lanes that wait for a name', async () => {
  const [webhookId = ''] = await subscribeSilent(1);
  const { dispatcher, sender } = world.worker({ settings: FEW_SLOTS });
  let asked = 0;
  sender.resolved = () => {
    asked += 1;
    return NEVER;
  };
  dispatcher.start();
  dispatcher.wake([webhookId]);
  await until(() => asked > 0, 'a question');
  await dispatcher.stop(20);
  expect(dispatcher.status()).toMatchObject({ state: 'stopped', inFlight: 0 });
  const next = world.worker({ settings: FEW_SLOTS });
  next.dispatcher.start();
  await world.untilDelivered(webhookId, 10);
  expect(next.sender.sent.every(({ attempt }) => attempt === 1)).toBe(true);
});

test('with a real name server that is silent: others are found and sent to, and the silent ones fail as such', async () => {
  const names = await DnsServer.start({ 'neighbour.example': { a: ['127.0.0.1'] } });
  const silent = await subscribeSilent(20);
  for (let index = 0; index < 20; index++) names.zones.set(`silent-${index}.example`, 'silence');
  const queries = new DnsQueries({ servers: [names.address], timeoutMs: 1_500 });
  const resolver = new NameResolver({ queries });
  const guard = new DnsAddressGuard({
    allowPrivateNetwork: true,
    resolve: (hostname, application) => resolver.resolve(hostname, application),
  });
  const real = new HttpsSender({ guard, trust: webhookTrust(), timeoutMs: 5_000, now: Date.now });
  const { dispatcher, sender } = world.worker({ settings: { ...FEW_SLOTS, schedule: [60_000] } });
  sender.resolved = (url) => real.locate(url, url === NEIGHBOUR ? 'neighbour' : world.applicationId, 5_000);
  const neighbour = await world.subscribe(NEIGHBOUR);
  dispatcher.start();
  dispatcher.wake(silent);
  await until(() => names.questions.length > 0, 'the first question');
  await world.enqueue(neighbour, eventsOf(10, 'NEIGHBOUR'));
  dispatcher.wake([neighbour]);
  await world.untilDelivered(neighbour, 10);
  expect(await world.records(silent[19]!, 'retrying')).toEqual([]);
  await until(
    async () => (await world.records(silent[0]!, 'retrying')).length > 0,
    'the failure of a silent name',
  );
  const [record] = await world.records(silent[0]!, 'retrying');
  expect(record!.lastError).toBe('dns: no answer for the name');
  // Both kinds of address, each tried twice, however many deliveries wait.
  expect(names.asked('silent-0.example')).toBeLessThanOrEqual(4);
  real.close();
  await dispatcher.stop(0);
  await names.close();
});
