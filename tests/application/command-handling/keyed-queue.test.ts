import { describe, expect, test } from '@jest/globals';
import { pause } from '../../../infrastructure/support/time.ts';
import { KeyedQueue } from '../../../application/command-handling/keyed-queue.ts';
import { BusyError } from '../../../application/ports/busy-error.ts';

describe('KeyedQueue', () => {
  test('runs one key in order and different keys side by side, whatever fails', async () => {
    const queue = new KeyedQueue();
    const log: string[] = [];
    const gate = Promise.withResolvers<void>();
    const first = queue.run('a', async () => {
      await gate.promise;
      log.push('a1');
      throw new Error('a1 fails');
    });
    const second = queue.run('a', async () => void log.push('a2'));
    await queue.run('b', async () => void log.push('b1'));
    gate.resolve();
    await expect(first).rejects.toThrow('a1 fails');
    await second;
    expect(log).toEqual(['b1', 'a1', 'a2']);
  });

  test('refuses what waited too long, never begins it, and goes on with the next', async () => {
    const queue = new KeyedQueue(20);
    const gate = Promise.withResolvers<void>();
    const begun: string[] = [];
    const holding = queue.run('a', () => gate.promise);
    const waiting = ['late', 'later'].map((name) =>
      queue.run('a', async () => void begun.push(name)).catch((error: unknown) => error),
    );
    await pause(40);
    const fresh = queue.run('a', async () => void begun.push('fresh'));
    gate.resolve();
    await holding;
    for (const outcome of await Promise.all(waiting)) expect(outcome).toBeInstanceOf(BusyError);
    await fresh;
    expect(begun).toEqual(['fresh']);
  });
});
