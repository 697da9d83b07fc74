import { expect, test } from '@jest/globals';
import { LaneFloors } from '../../../../application/webhooks/queue/floors.ts';

const at = (seconds: number): string => new Date(Date.UTC(2026, 0, 15, 12) + seconds * 1_000).toISOString();
const WEBHOOK = 'webhook-1';

/** A service that has looked at all subscriptions for some time, and found nothing due. */
const looking = (): LaneFloors => {
  const floors = new LaneFloors('postgres');
  for (let second = 0; second <= 20; second += 2)
    floors.looked(floors.look(at(second)), new Map([[WEBHOOK, [null, null, null]]]));
  return floors;
};

test('searches begin shortly before the last one', () => {
  expect(looking().floorsOf(WEBHOOK, at(21))).toEqual([at(18), at(18), at(18)]);
});

test('the first search after the clock was set back begins at the start, and the first look goes back as far', () => {
  expect(looking().floorsOf(WEBHOOK, at(-3_600))).toEqual(['', '', '']);
  expect(looking().look(at(-3_600))).toEqual({ reach: 'whole', now: at(-3_600), floors: [{}, {}, {}] });
});
