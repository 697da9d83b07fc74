import { describe, expect, test } from '@jest/globals';
import { Breaker } from '../../../../infrastructure/webhooks/dispatch/endpoints.ts';

const settings = { failures: 3, firstPauseMs: 100, longestPauseMs: 350 };

describe('a breaker', () => {
  test('opens after so many failures in a row', () => {
    const breaker = new Breaker(settings);
    expect([breaker.down(0), breaker.down(1), breaker.probeAt]).toEqual([false, false, undefined]);
    expect([breaker.down(2), breaker.probeAt]).toEqual([true, 102]);
  });

  test('starts counting again with every sign of life', () => {
    const breaker = new Breaker(settings);
    for (let i = 0; i < 10; i++) {
      expect([breaker.down(i), breaker.down(i), breaker.alive()]).toEqual([false, false, false]);
    }
    expect(breaker.isForgettable(20)).toBe(true);
  });

  test('waits twice as long after each failed probe, up to a limit', () => {
    const breaker = new Breaker(settings);
    for (let i = 0; i < 3; i++) breaker.down(0);
    const pauses: number[] = [];
    for (let i = 0; i < 4; i++) {
      const at = breaker.probeAt!;
      expect(breaker.down(at)).toBe(false);
      pauses.push(breaker.probeAt! - at);
    }
    expect(pauses).toEqual([200, 350, 350, 350]);
  });

  test('does not wait longer for what was under way when it opened', () => {
    const breaker = new Breaker(settings);
    for (let i = 0; i < 20; i++) breaker.down(i);
    expect(breaker.probeAt).toBe(102);
  });

  test('closes with the first probe that is answered, and opens as before the next time', () => {
    const breaker = new Breaker(settings);
    for (let i = 0; i < 3; i++) breaker.down(0);
    breaker.down(100);
    expect([breaker.alive(), breaker.probeAt]).toEqual([true, undefined]);
    for (let i = 0; i < 3; i++) breaker.down(1_000);
    expect(breaker.probeAt).toBe(1_100);
  });

  test('is probed at once when somebody has seen to its endpoint, whatever an earlier attempt says', () => {
    const breaker = new Breaker(settings);
    for (let i = 0; i < 3; i++) breaker.down(0);
    breaker.down(100);
    breaker.seenTo(150);
    expect(breaker.probeAt).toBe(150);
    expect([breaker.down(160, 140), breaker.probeAt]).toEqual([false, 150]);
    expect([breaker.down(170, 150), breaker.probeAt! - 170]).toEqual([false, 200]);
  });

  test('that is closed stays so when somebody sees to its endpoint', () => {
    const breaker = new Breaker(settings);
    breaker.seenTo(10);
    expect([breaker.down(20, 5), breaker.isForgettable(20), breaker.probeAt]).toEqual([
      false,
      true,
      undefined,
    ]);
  });
});
