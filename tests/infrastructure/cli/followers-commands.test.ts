import { describe, expect, test } from '@jest/globals';
import { FollowerPlaces } from '../../../application/coordination/follower-places.ts';
import type { StoredPlace, StoredPlaces } from '../../../application/ports/coordination.ts';
import type { LogPosition } from '../../../application/ports/event-store.ts';
import { InMemoryEventStore } from '../../support/in-memory-event-store.ts';
import { sampleEvent, sampleMetadata } from '../../contracts/event-store-samples.ts';
import { commandLine } from '../../support/command-line.ts';

const at = (minute: number): string => `2026-01-15T12:0${minute}:00.000Z`;
const FOREIGN = '7/7' as LogPosition;

/** Five events, a minute apart, behind a relay whose place is of another log and a manager whose place fits. */
const world = async () => {
  const log = new InMemoryEventStore();
  const positions: LogPosition[] = [];
  for (let minute = 0; minute < 5; minute++) {
    const event = { ...sampleEvent(), metadata: sampleMetadata({ recordedAt: at(minute) }) };
    const { position } = await log.append(`loan-app-1.OP-${minute}`, 'no_stream', [event]);
    positions.push(position);
  }
  const stored = new Map<string, LogPosition>([
    ['outbox-relay', FOREIGN],
    ['renegotiation-recovery', positions[1]!],
  ]);
  const places: StoredPlaces = {
    list: async () =>
      [...stored].map(([name, position]): StoredPlace => ({ name, position, updatedAt: at(9) })),
    move: async (name, expected, position) => {
      if (stored.get(name) !== expected) return false;
      if (position === 'start') stored.delete(name);
      else stored.set(name, position);
      return true;
    },
  };
  const run = commandLine(() => ({ followers: new FollowerPlaces(places, log) }));
  return { run, stored, positions };
};

describe('followers', () => {
  test('list shows the place of each, and why the log cannot be followed from there', async () => {
    const { run, positions } = await world();
    const { code, lines } = await run('followers', 'list');
    expect(code).toBe(0);
    expect(lines).toEqual([
      {
        follower: 'outbox-relay',
        position: FOREIGN,
        updated_at: at(9),
        problem: expect.stringContaining('is not a position'),
      },
      { follower: 'renegotiation-recovery', position: positions[1], updated_at: at(9), problem: null },
    ]);
  });

  test.each([
    ['an instant between two events', '2026-01-15T12:02:30Z', 2],
    ['the instant of an event, which counts as handled', at(3), 3],
    ['an instant behind the last', '2027-01-01T00:00:00Z', 4],
  ])('move lets one go on after %s', async (_, after, index) => {
    const { run, stored, positions } = await world();
    const { code, lines } = await run('followers', 'move', 'outbox-relay', '--after', after);
    expect([code, lines]).toEqual([
      0,
      [{ follower: 'outbox-relay', before: FOREIGN, position: positions[index] }],
    ]);
    expect(stored.get('outbox-relay')).toBe(positions[index]);
  });

  test.each(['start', '2026-01-01T00:00:00Z'])('move to what comes after %s begins anew', async (after) => {
    const { run, stored } = await world();
    const { lines } = await run('followers', 'move', 'outbox-relay', '--after', after);
    expect(lines).toEqual([{ follower: 'outbox-relay', before: FOREIGN, position: 'start' }]);
    expect(stored.has('outbox-relay')).toBe(false);
  });

  test('a place that fits is left alone without --force, and so is what is not known or not understood', async () => {
    const { run, stored, positions } = await world();
    const move = async (...args: readonly string[]) => (await run('followers', 'move', ...args)).code;
    expect(await move('renegotiation-recovery', '--after', 'start')).toBe(3);
    expect(await move('nobody', '--after', 'start')).toBe(3);
    expect(await move('outbox-relay', '--after', 'yesterday')).toBe(2);
    expect(stored.get('renegotiation-recovery')).toBe(positions[1]);
    expect(await move('renegotiation-recovery', '--after', 'start', '--force')).toBe(0);
    expect(stored.has('renegotiation-recovery')).toBe(false);
  });
});
