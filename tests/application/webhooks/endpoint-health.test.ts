import { describe, expect, test } from '@jest/globals';
import { endpointState, healthOf } from '../../../application/webhooks/webhook-desk.ts';

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

describe('the state of an endpoint is that of its last hour', () => {
  const NOW = '2026-06-20T12:00:00.000Z';
  const minutesAgo = (minutes: number): string => new Date(Date.parse(NOW) - minutes * 60_000).toISOString();

  test.each([
    ['nothing was tried yet', [null, null, null], 'active'],
    ['all succeeds', [1, 300, null], 'active'],
    ['it failed a second ago, between successes', [1, 0, 0], 'unsteady'],
    ['it succeeded a second ago, between failures', [0, 1, null], 'unsteady'],
    ['it recovered more than an hour ago', [30, 61, null], 'active'],
    ['nothing got through for more than an hour', [61, 1, 60], 'failing'],
    ['nothing ever got through', [null, 1, 1], 'failing'],
    ['it failed, and waits for hours until it is tried again', [600, 240, 599], 'failing'],
  ] as const)('%s', (_, [success, failure, failing], state) => {
    const at = (minutes: number | null) => (minutes === null ? null : minutesAgo(minutes));
    const of = { lastSuccessAt: at(success), lastFailureAt: at(failure), failingSince: at(failing) };
    expect(endpointState({ status: 'active', ...of }, NOW)).toBe(state);
    expect(endpointState({ status: 'paused', ...of }, NOW)).toBe('paused');
  });
});
