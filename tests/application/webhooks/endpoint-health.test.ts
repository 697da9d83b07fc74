import { describe, expect, test } from '@jest/globals';
import { healthOf } from '../../../application/webhooks/endpoint-health.ts';

const outcome = (durationMs: number, responseStatus: number | null) => ({
  at: '2026-06-20T15:00:00.000Z',
  durationMs,
  responseStatus,
  succeeded: responseStatus === 200,
});

describe('the health of an endpoint', () => {
  test('is unknown before the first attempt', () => {
    expect(healthOf([])).toEqual({ attempts: 0, successRate: null, medianMs: null, p95Ms: null });
  });

  test('is the share of attempts that succeeded, and how fast answers came, whatever they said', () => {
    const fast = Array.from({ length: 18 }, (_, i) => outcome(10 + i, 200));
    expect(healthOf([...fast, outcome(900, 503), outcome(400, 200)])).toEqual({
      attempts: 20,
      successRate: 0.95,
      medianMs: 19,
      p95Ms: 400,
    });
  });

  test('takes no latency from what never answered', () => {
    expect(healthOf([outcome(10_000, null), outcome(8, 200)])).toMatchObject({ successRate: 0.5, p95Ms: 8 });
    expect(healthOf([outcome(10_000, null)])).toMatchObject({ successRate: 0, medianMs: null, p95Ms: null });
  });
});
