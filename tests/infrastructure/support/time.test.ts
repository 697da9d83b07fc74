import { expect, test } from '@jest/globals';
import { pause } from '../../../infrastructure/support/time.ts';

test('a pause longer than one timer of Node.js can wait does not end at once', async () => {
  const [long, short] = [new AbortController(), pause(5)];
  let ended = false;
  const waiting = pause(30 * 86_400_000, long.signal).then(() => (ended = true));
  await short;
  await pause(5);
  expect(ended).toBe(false);
  long.abort();
  await waiting;
});
