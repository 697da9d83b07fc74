import { expect, test } from '@jest/globals';
import { MovableClock } from '../../../application/maintenance/sandbox/sandbox-clock.ts';
import { ServiceMetrics } from '../../../infrastructure/observability/service-metrics.ts';

const DAY_MS = 86_400_000;

test('operations wait by business time, deliveries by real time, also after a sandbox has moved its clock', async () => {
  const clock = new MovableClock(Date.now);
  clock.moveTo(270 * DAY_MS);
  const metrics = new ServiceMetrics(undefined, clock);
  const yesterday = (now: number) => new Date(now - DAY_MS).toISOString();
  const scrape = metrics.scrape({
    states: () => ({}),
    quarantined: () => ({}),
    checks: async () => ({}),
    operationStates: async () => [
      { status: 'received', operations: 1, oldestSince: yesterday(Date.parse(clock.now())) },
      { status: 'approved', operations: 1, oldestSince: yesterday(Date.now()) },
    ],
    waitingDeliveries: async () => [{ webhookId: 'w', oldestCreatedAt: yesterday(Date.now()) }],
    leases: () => ({}),
  });
  const text = await scrape.text();
  const days = (series: string): number =>
    Math.round(
      Number(
        text
          .split('\n')
          .find((line) => line.startsWith(`${series} `))!
          .split(' ')[1],
      ) / 86_400,
    );
  expect(days('receivables_operations_oldest_waiting_seconds{status="received"}')).toBe(1);
  expect(days('receivables_operations_oldest_waiting_seconds{status="approved"}')).toBe(271);
  expect(days('receivables_webhook_oldest_waiting_seconds{webhook_id="w"}')).toBe(1);
});
