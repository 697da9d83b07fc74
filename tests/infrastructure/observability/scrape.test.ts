import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { Counter, Registry } from 'prom-client';
import { Scrape } from '../../../infrastructure/observability/service-metrics.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const scrapeOf = (name: string): Scrape => {
  const registry = new Registry();
  new Counter({ name, help: 'counted', registers: [registry] }).inc();
  return new Scrape(registry, []);
};

test('a thread that does not answer, because it has ended meanwhile, takes no other numbers with it', async () => {
  const text = scrapeOf('own_total').text(new Promise(() => undefined));
  await jest.advanceTimersByTimeAsync(5_000);
  expect(await text).toContain('own_total 1');
});

test('what a thread counts stands beside what this one counts', async () => {
  const text = await scrapeOf('own_total').text(scrapeOf('other_total').values());
  expect(text).toMatch(/own_total 1[^]*other_total 1/);
});
