import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Client } from 'pg';
import { Living, atMost } from '../lives/live.ts';
import { livesFrom } from '../lives/smallest.ts';
import { DAYS_BEFORE } from '../lives/steps.ts';
import type { Life } from '../lives/steps.ts';
import { World } from '../lives/world.ts';
import { EarlierRelease } from '../support/earlier-release/earlier-release.ts';
import { StandInProcess } from '../support/eventstoredb/stand-in-process.ts';
import { testKafka } from '../support/kafka/test-kafka.ts';
import { testPostgres } from '../support/postgres/test-postgres.ts';
import { Random } from '../support/random.ts';
import { freePort } from '../support/service-process.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { within } from '../support/within.ts';

/** The earlier release lets few files of one process be checked at a time, and turns others away. */
const AT_ONCE = 4;
const LIVES = Number(process.env['LIVES'] ?? 6);
const SEED = Number(process.env['SEED'] ?? 1);
/** Stretches of each life: before this one the earlier release starts once more, on what the new one has made of the tables. */
const STARTS_AGAIN = 1;
/** Before this one it is stopped. */
const ENDS = 3;

/** Of the topic of events. */
const PARTITIONS = 12;

const closing: (() => Promise<void>)[] = [];
let environment: Readonly<Record<string, string>>;

beforeAll(async () => {
  const directory = temporaryDirectory();
  const [postgres, kafka, store] = await Promise.all([
    testPostgres(),
    testKafka(),
    StandInProcess.start(directory),
  ]);
  closing.push(() => store.kill(), postgres.close, kafka.close);
  environment = {
    ENVIRONMENT: 'production',
    MASTER_KEY: randomBytes(32).toString('base64'),
    METRICS_PORT: 'off',
    HOST: '127.0.0.1',
    DATA_DIR: directory,
    DATABASE_URL: await postgres.schema(),
    EVENTSTORE_URL: store.url,
    KAFKA_BROKERS: kafka.brokers.join(','),
    KAFKA_TOPIC_PREFIX: kafka.prefix(),
    PUBLIC_URL: 'http://receivables.test',
    AUTH_URL: 'http://receivables.test',
  };
}, 300_000);
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

/** Lists follow the writes of their own process. */
const without = (kinds: readonly string[], { parts }: Life): Life => ({
  parts: parts.map((part) => part.filter(({ kind }) => !kinds.includes(kind))),
});

/**
 * Until it has begun all partitions of the topic, as it has long before an upgrade: it keeps no number of them, and begins one after another
 * when it first consumes them. What looks in between takes the rest for some that came later.
 */
const consumesAll = async (): Promise<void> => {
  const client = new Client({ connectionString: environment['DATABASE_URL']! });
  await client.connect();
  try {
    await within('the earlier release consumes every partition', 60_000, async () => {
      const { rows } = await client.query('select count(distinct partition) as begun from consumer_offset');
      return Number(rows[0].begun) === PARTITIONS;
    });
  } finally {
    await client.end();
  }
};

/** A busy machine costs a lease now and then, which is what leases are for. */
const errorsIn = (output: string): readonly string[] =>
  output.split('\n').filter((line) => line !== '' && !line.includes('lease lost'));

const problemsOf = (living: readonly Living[]) =>
  living.flatMap(({ found, story }) => (found.length > 0 ? [{ found, story }] : []));

test('random lives go through processes of the release before and of this one as the rules of both have them, and on', async () => {
  const random = new Random(SEED);
  const now = '2026-06-20T15:00:00.000Z';
  const startEarlier = async (at: string): Promise<EarlierRelease> =>
    EarlierRelease.start('2026.11.1', { ...environment, PORT: String(await freePort()) }, at);
  let earlier = await startEarlier(now);
  closing.push(() => earlier.close());
  await consumesAll();
  const port = String(await freePort());
  const here = `http://127.0.0.1:${port}`;
  const world = await World.start({ ...environment, PORT: port });
  closing.push(() => world.stop());
  const decideHere = world.decisionDesk;
  world.besideEarlier = true;
  world.address = () => (random.chance(0.5) ? earlier.address : here);
  world.tokenAt = async (address, { applicationId, clientId }) =>
    address === earlier.address
      ? earlier.issue({ applicationId, clientId, name: 'life', rateLimitMultiplier: 1_000 })
      : undefined;
  world.decisionDesk = (texts) => (random.chance(0.5) ? earlier.decide(texts) : decideHere(texts));

  const { clientId, clientSecret } = await world.parts.clients.create({
    name: 'of both',
    fundIds: [randomUUID()],
  });
  for (const address of [earlier.address, here, earlier.address]) {
    const body = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: clientSecret,
    });
    expect((await fetch(`${address}/token`, { method: 'POST', body })).status).toBe(200);
  }

  const lives = livesFrom(SEED, LIVES).map((life) => without(['list', 'restart'], life));
  const living = await Promise.all(lives.map(() => Living.begin(world)));
  for (const [i, days] of DAYS_BEFORE.entries()) {
    if (i === STARTS_AGAIN) {
      expect(errorsIn(earlier.output)).toEqual([]);
      await earlier.close();
      earlier = await startEarlier(world.clock.now());
    }
    if (i === ENDS) {
      expect(problemsOf(living)).toEqual([]);
      expect(await world.audit()).toEqual([]);
      expect(errorsIn(earlier.output)).toEqual([]);
      await earlier.close();
      world.besideEarlier = false;
      world.address = () => here;
      world.decisionDesk = decideHere;
      await world.parts.formats.leaveEarlierRelease();
    }
    if (days > 0) {
      await world.pass(days);
      if (i < ENDS) await earlier.setTime(world.clock.now());
      for (const one of living) one.model.dayTurns(world.now().today);
    }
    await atMost(AT_ONCE, living, (one, n) => one.part(lives[n]!.parts[i] ?? []));
  }
  const told = await world.events();
  for (const one of living) await one.checkEvents(world, told);
  expect(problemsOf(living)).toEqual([]);
  expect(await world.audit()).toEqual([]);
  const own = world.logger.lines.filter(({ level }) => level === 'error').map(({ message }) => message);
  expect(errorsIn(own.join('\n'))).toEqual([]);
}, 600_000);
