import { describe, expect, test } from '@jest/globals';
import { whenAsked } from '../../../infrastructure/support/opening.ts';

describe('what is made when it is asked for', () => {
  test('is made once, for all who ask meanwhile and after', async () => {
    let made = 0;
    const ask = whenAsked(async () => ++made);
    expect(made).toBe(0);
    expect(await Promise.all([ask(), ask()])).toEqual([1, 1]);
    expect(await ask()).toBe(1);
  });

  test('is made again after a failure, which everybody sees who waited for it', async () => {
    let tries = 0;
    const ask = whenAsked(async () => {
      tries += 1;
      if (tries === 1) throw new Error('no disk');
      return tries;
    });
    const both = await Promise.allSettled([ask(), ask()]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await ask()).toBe(2);
  });
});
