import { describe, expect, test } from '@jest/globals';
import { ServerClock } from '../../../infrastructure/postgres/connection-pool.ts';

const SERVER = Date.parse('2026-06-20T12:00:00.000Z');
const HOUR = 3_600_000;

/** A machine whose clocks are moved by hand, and a server that it asks. */
const machine = (wallAhead = 0) => {
  let passed = 0;
  let walled = 0;
  const clock = new ServerClock({ steady: () => passed, wall: () => SERVER + wallAhead + passed + walled });
  return {
    clock,
    pass: (ms: number) => (passed += ms),
    /** The wall clock alone. */
    turn: (ms: number) => (walled += ms),
    ask: (tookMs = 0, server = SERVER + passed) =>
      clock.measure(async () => {
        passed += tookMs;
        return { now: String(server + tookMs / 2) };
      }),
  };
};

describe("a server's clock", () => {
  test('is told alike by processes whose own clocks are apart', async () => {
    const [ahead, behind] = [machine(HOUR), machine(-HOUR)];
    for (const one of [ahead, behind]) {
      await one.ask();
      one.pass(1_234);
      expect(one.clock.now()).toBe(SERVER + 1_234);
    }
  });

  test('is that of the machine before the server was asked', () => {
    expect(machine(HOUR).clock.now()).toBe(SERVER + HOUR);
  });

  test('does not follow a machine whose clock is set back', async () => {
    const one = machine();
    await one.ask();
    one.pass(100);
    one.turn(-HOUR);
    expect(one.clock.now()).toBe(SERVER + 100);
  });

  test('counts the time that the machine was asleep, and is asked for again then', async () => {
    const one = machine();
    await one.ask();
    one.turn(HOUR);
    expect([one.clock.now(), one.clock.due]).toEqual([SERVER + HOUR, true]);
    await one.ask(0, SERVER + 5);
    expect([one.clock.now(), one.clock.due]).toEqual([SERVER + 5, false]);
  });

  test('takes the middle of an answer, and does not believe a slow one while it knows better', async () => {
    const one = machine();
    await one.ask(100);
    expect(one.clock.now()).toBe(SERVER + 100);
    await one.ask(2_000, SERVER + 50_000);
    expect(one.clock.now()).toBe(SERVER + 2_100);
  });

  test('is not moved by slow answers while what is known is good enough, and is asked for until one is prompt', async () => {
    const one = machine();
    await one.ask();
    one.pass(10_001);
    // The server looked at its clock when it sent the answer.
    await one.ask(4_000, SERVER + 14_001);
    expect([one.clock.now(), one.clock.due]).toEqual([SERVER + 14_001, true]);
    await one.ask(200);
    expect([one.clock.now(), one.clock.due]).toEqual([SERVER + 14_201, false]);
    one.pass(300_001);
    await one.ask(4_000, SERVER + 400_000);
    expect(one.clock.now()).toBe(SERVER + 404_000);
  });

  test('is soon asked for again where the first answer was slow', async () => {
    const one = machine();
    await one.ask(4_000);
    expect(one.clock.due).toBe(false);
    one.pass(1_001);
    expect(one.clock.due).toBe(true);
    await one.ask(2_000, SERVER + 60_000);
    expect(one.clock.now()).toBe(SERVER + 62_000);
  });

  test('is asked for again after a while', async () => {
    const one = machine();
    expect(one.clock.due).toBe(true);
    await one.ask();
    one.pass(10_000);
    expect(one.clock.due).toBe(false);
    one.pass(1);
    expect(one.clock.due).toBe(true);
  });
});
