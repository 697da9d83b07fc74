import { afterAll, afterEach, beforeEach, expect, test } from '@jest/globals';
import { openServiceDatabase } from '../../../support/sql/temporary-database.ts';
import { DOWN, DispatchWorld, OK, REFUSED, ScriptedSender } from '../support/dispatch-world.ts';
import { until } from '../../../support/within.ts';

const HOUR_MS = 3_600_000;

let world: DispatchWorld;
let setBackMs: number;

const store = await openServiceDatabase();
afterAll(() => store.close());
beforeEach(() => {
  world = new DispatchWorld(store.database);
  setBackMs = 0;
});
afterEach(() => world.close());

const now = (): number => Date.now() - setBackMs;
const worker = (sender: ScriptedSender, settings = {}) =>
  world.worker({
    sender,
    now,
    settings: { schedule: [300, 300, 300, 300], ...settings },
    queue: { schedules: (at) => world.queue.schedules(at) },
  });

test('a retry that waits when the clock is set back by an hour comes after its gap', async () => {
  const sender = new ScriptedSender();
  sender.respond = ({ attempt }) => (attempt < 2 ? REFUSED : OK);
  const webhookId = await world.subscribe('https://one.example/');
  const { dispatcher } = worker(sender);
  dispatcher.start();
  await world.enqueue(webhookId, [world.event('OP-1'), world.event('OP-1'), world.event('OP-2')]);
  dispatcher.wake([webhookId]);
  await until(() => sender.sent.length >= 2, 'first attempts');
  setBackMs = HOUR_MS;
  await world.untilDelivered(webhookId, 3);
  expect(sender.sent.filter(({ attempt }) => attempt > 2)).toEqual([]);
});

test('an endpoint that is down when the clock is set back is tried again after its pause', async () => {
  const sender = new ScriptedSender();
  sender.respond = () => (setBackMs === 0 ? DOWN : OK);
  const webhookId = await world.subscribe('https://down.example/');
  const { dispatcher } = worker(sender, {
    schedule: Array<number>(40).fill(200),
    breaker: { failures: 2, firstPauseMs: 400, longestPauseMs: 400 },
  });
  dispatcher.start();
  await world.enqueue(
    webhookId,
    ['DOWN-1', 'DOWN-2', 'DOWN-3'].map((code) => world.event(code)),
  );
  dispatcher.wake([webhookId]);
  await until(() => sender.sent.length >= 3, 'failures');
  setBackMs = HOUR_MS;
  await world.untilDelivered(webhookId, 3);
});

test('what was queued before a start on a clock that is an hour behind is sent at once', async () => {
  const sender = new ScriptedSender();
  const webhookId = await world.subscribe('https://start.example/');
  await world.enqueue(webhookId, [world.event('START-1'), world.event('START-1')]);
  setBackMs = HOUR_MS;
  worker(sender).dispatcher.start();
  await world.untilDelivered(webhookId, 2);
  expect(sender.sent.map(({ eventId }) => eventId)).toEqual(['START-1#0', 'START-1#1']);
});

test('a clock that is set ahead loses nothing and sends nothing twice', async () => {
  const sender = new ScriptedSender();
  sender.respond = ({ attempt }) => (attempt < 2 ? REFUSED : OK);
  const webhookId = await world.subscribe('https://ahead.example/');
  const { dispatcher } = worker(sender);
  dispatcher.start();
  await world.enqueue(webhookId, [world.event('AHEAD-1'), world.event('AHEAD-2')]);
  dispatcher.wake([webhookId]);
  await until(() => sender.sent.length >= 2, 'first attempts');
  setBackMs = -HOUR_MS;
  await world.untilDelivered(webhookId, 2);
  expect(sender.sent).toHaveLength(4);
});
