import { randomUUID } from 'node:crypto';
import { serviceMigrations } from '../../application/sql/migrations/service.ts';
import { DeliveryQueue } from '../../application/webhooks/queue/delivery-queue.ts';
import { WebhookSubscriptions } from '../../application/webhooks/subscriptions.ts';
import { holdSnapshot, workThrough } from '../support/postgres/held-snapshot.ts';
import { openPostgres, testPostgres } from '../support/postgres/test-postgres.ts';

/**
 * What one transaction that is held open costs deliveries: a claim of lanes after so many finished ones, by a process that knows where
 * to begin, and from the start of the index, as a process begins that knows nothing yet.
 */
const [LANES = 60_000] = process.argv.slice(2).map(Number);
const STEPS = 6;
const FROM_THE_START = 20;

const median = (values: readonly number[]): string =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!.toFixed(1);

const postgres = await testPostgres();
const fixture = await openPostgres(postgres, serviceMigrations);
const { database } = fixture;
const webhookId = randomUUID();
await new WebhookSubscriptions(database).add(
  {
    webhookId,
    applicationId: 'app',
    url: 'https://receiver.example/hooks',
    events: ['*'],
    fundIds: null,
    description: null,
    sealedSecret: 'sealed',
    createdAt: new Date().toISOString(),
  },
  20,
);
const held = await holdSnapshot(fixture.url);
try {
  const queue = new DeliveryQueue(database);
  for (let step = 1; step <= STEPS; step++) {
    const claims: number[] = [];
    await workThrough(queue, webhookId, {
      lanes: LANES / STEPS,
      now: Date.now,
      onClaim: (ms) => claims.push(ms),
    });
    const whole: number[] = [];
    for (let i = 0; i < FROM_THE_START; i++) {
      const at = new Date().toISOString();
      const begun = performance.now();
      await new DeliveryQueue(database).lease([{ webhookId, firstAttempts: 64, retries: 0 }], at, at);
      whole.push(performance.now() - begun);
    }
    const finished = Math.round((LANES / STEPS) * step);
    console.log(
      `${finished} finished lanes: ${median(claims)} ms a claim of 64, ${median(whole)} ms from the start of the index`,
    );
  }
} finally {
  await held.release();
  await fixture.close();
  await postgres.close();
}
