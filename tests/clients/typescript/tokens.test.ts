import { expect, test } from '@jest/globals';
import { Tokens } from '../../../clients/typescript/src/tokens.ts';

/** Tokens T1, T2, ... that live for so many seconds, and a clock that is set by hand. */
const issuing = (expires_in = 3_600) => {
  const world = { issued: 0, now: 0, failing: false };
  const issue = async () => {
    world.issued += 1;
    if (world.failing) throw new Error('unavailable');
    return { access_token: `T${world.issued}`, expires_in };
  };
  return { world, tokens: new Tokens(issue, () => world.now) };
};

test('many that ask at once share one request', async () => {
  const { world, tokens } = issuing();
  expect(new Set(await Promise.all(Array.from({ length: 50 }, () => tokens.get())))).toEqual(new Set(['T1']));
  expect(world.issued).toBe(1);
});

test.each([
  [3_600, 3_540_000],
  [2, 1_800],
])('one of %d seconds is used for %d milliseconds', async (life, used) => {
  const { world, tokens } = issuing(life);
  await tokens.get();
  world.now = used - 1;
  expect(await tokens.get()).toBe('T1');
  world.now = used;
  expect(await tokens.get()).toBe('T2');
});

test('one that was refused is replaced once, however many were refused with it', async () => {
  const { world, tokens } = issuing();
  const old = await tokens.get();
  tokens.refuse(old);
  const renewed = tokens.get();
  tokens.refuse(old);
  expect([await renewed, await tokens.get(), world.issued]).toEqual(['T2', 'T2', 2]);
});

test('a failure reaches all that wait, and the next one asks anew', async () => {
  const { world, tokens } = issuing();
  world.failing = true;
  const outcomes = await Promise.allSettled([tokens.get(), tokens.get()]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  world.failing = false;
  expect([await tokens.get(), world.issued]).toEqual(['T2', 2]);
});
