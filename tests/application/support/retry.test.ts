import { describe, expect, test } from '@jest/globals';
import { backoff, repeatUntilAborted, retry } from '../../../application/support/retry.ts';

const policy = { pausesMs: [10, 20], mayPass: (error: unknown) => (error as Error).message === 'away' };

/** Work that fails so often, and the pauses that were made in between. */
const failing = (times: number, message = 'away') => {
  const pauses: number[] = [];
  let tries = 0;
  return {
    pauses,
    work: async (): Promise<number> => {
      tries += 1;
      if (tries <= times) throw new Error(message);
      return tries;
    },
    pause: async (ms: number): Promise<void> => void pauses.push(ms),
  };
};

describe('work that is repeated', () => {
  test('ends with the first try that succeeds', async () => {
    const { work, pause, pauses } = failing(2);
    expect(await retry(work, policy, pause)).toBe(3);
    expect(pauses).toEqual([10, 20]);
  });

  test('ends with the error of the last try, after the last pause', async () => {
    const { work, pause, pauses } = failing(3);
    await expect(retry(work, policy, pause)).rejects.toThrow('away');
    expect(pauses).toEqual([10, 20]);
  });

  test('ends at once with an error that would come again', async () => {
    const { work, pause, pauses } = failing(1, 'refused');
    await expect(retry(work, policy, pause)).rejects.toThrow('refused');
    expect(pauses).toEqual([]);
  });

  test('ends when its time is over', async () => {
    const { work, pause, pauses } = failing(1);
    await expect(retry(work, { ...policy, giveUpAfterMs: -1 }, pause)).rejects.toThrow('away');
    expect(pauses).toEqual([]);
  });

  test('pauses double up to a bound', () => {
    expect([1, 2, 3, 4, 100].map((attempt) => backoff(attempt, 50, 300))).toEqual([50, 100, 200, 300, 300]);
  });
});

test('work without an end waits as it says, or as its failure says, until the signal ends', async () => {
  const stopping = new AbortController();
  const pauses: number[] = [];
  const answers = [5, new Error('away'), 5];
  const work = async (): Promise<number> => {
    const answer = answers.shift();
    if (answer === undefined) stopping.abort();
    if (answer instanceof Error) throw answer;
    return answer ?? 0;
  };
  await repeatUntilAborted(
    work,
    () => 70,
    async (ms) => void pauses.push(ms),
    stopping.signal,
  );
  expect(pauses).toEqual([5, 70, 5, 0]);
});
