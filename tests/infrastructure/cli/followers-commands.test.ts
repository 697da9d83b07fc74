import { describe, expect, test } from '@jest/globals';
import { FollowerPlaces } from '../../../application/maintenance/follower-places.ts';
import type { LogPosition } from '../../../application/ports/event-store.ts';
import { InMemoryEventStore } from '../../support/in-memory-event-store.ts';
import { sampleEvent, sampleMetadata } from '../../contracts/event-store-samples.ts';
import { commandLine, maintaining } from '../../support/command-line.ts';
import { MemoryCheckpoints } from '../../support/log-followers.ts';
import { StoreUnavailableError } from '../../../application/ports/event-store.ts';
import type { RowDifference } from '../../../application/maintenance/rebuild/compare-generations.ts';
import type { Projection } from '../../../projections/projection.ts';
import type { Maintenance } from '../../../application/maintenance/maintenance.ts';
import type { BackupSummary } from '../../../infrastructure/cli/command-line.ts';

const at = (minute: number): string => `2026-01-15T12:0${minute}:00.000Z`;
const FOREIGN = '7-7' as LogPosition;

/** Five events, a minute apart, behind a relay whose place is of another log and a manager whose place fits. */
const world = async () => {
  const log = new InMemoryEventStore();
  const positions: LogPosition[] = [];
  for (let minute = 0; minute < 5; minute++) {
    const event = { ...sampleEvent(), metadata: sampleMetadata({ recordedAt: at(minute) }) };
    const { position } = await log.append(`loan-app-1.OP-${minute}`, 'no_stream', [event]);
    positions.push(position);
  }
  const places = new MemoryCheckpoints();
  const stored = places.positions;
  stored.set('outbox-relay', FOREIGN).set('renegotiation-recovery', positions[1]!);
  const ends: (LogPosition | 'start')[] = [];
  const beginWithin = async (end: LogPosition | 'start') => ends.push(end);
  /** The follower runs, and has come to these places when it is about to be moved. */
  const meanwhile: LogPosition[] = [];
  const move = places.move;
  places.move = (name, from, to) => {
    const next = meanwhile.shift();
    if (next !== undefined) stored.set(name, next);
    return move(name, from, to);
  };
  const run = commandLine(() => maintaining({ followers: new FollowerPlaces(places, log, beginWithin) }));
  return { run, stored, positions, ends, meanwhile };
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

  test('with --force one that runs is moved from wherever it has come to, without it from where it stood', async () => {
    const { run, stored, positions, meanwhile } = await world();
    meanwhile.push(positions[2]!, positions[3]!);
    const { lines } = await run('followers', 'move', 'renegotiation-recovery', '--after', at(0), '--force');
    const follower = 'renegotiation-recovery';
    expect(lines).toEqual([{ follower, before: positions[3], position: positions[0] }]);
    meanwhile.push(positions[4]!);
    expect((await run('followers', 'move', 'outbox-relay', '--after', 'start')).code).toBe(1);
    expect(stored.get('outbox-relay')).toBe(positions[4]);
  });

  test('a place that fits is left alone without --force, and so is what is not known or not understood', async () => {
    const { run, stored, positions } = await world();
    const move = async (...args: readonly string[]) => (await run('followers', 'move', ...args)).code;
    expect(await move('renegotiation-recovery', '--after', 'start')).toBe(3);
    expect(await move('nobody', '--after', 'start')).toBe(3);
    for (const after of ['yesterday', '2026-13-01T00:00:00Z', '2026-02-30T00:00:00Z', '2026-02-20T24:00:00Z'])
      expect([after, await move('outbox-relay', '--after', after)]).toEqual([after, 2]);
    expect(stored.get('renegotiation-recovery')).toBe(positions[1]);
    expect(await move('renegotiation-recovery', '--after', 'start', '--force')).toBe(0);
    expect(stored.has('renegotiation-recovery')).toBe(false);
  });
});

const place = (position: string) => ({ version: 1, position: position as LogPosition });
const difference: RowDifference = {
  table: 'loan',
  stream: 'loan-app.L1',
  key: { stream: 'loan-app.L1' },
  columns: { status: { live: 'active', copy: 'settled' } },
  only: undefined,
};

const readModels = (differs: boolean): Maintenance['readModels'] => ({
  list: async function* () {
    const one = { projection: 'loan', programVersion: 1 };
    yield { ...one, generation: 1, state: 'serving', place: place('12'), rows: 40 };
    yield { ...one, generation: 2, state: 'building', place: undefined, rows: 0 };
  },
  rebuild: ({ force, onProgress, onDifference }) => {
    onProgress(1);
    if (differs) void onDifference({ name: 'loan' } as Projection, difference);
    return Promise.resolve({
      generation: 2,
      outcome: differs && !force ? ('differs' as const) : ('switched' as const),
      resumed: false,
      events: 12,
      differences: differs ? 1 : 0,
    });
  },
  dropOld: () => Promise.resolve([1]),
});
const projecting = (differs = false) => commandLine(() => maintaining({ readModels: readModels(differs) }));

describe('projections', () => {
  test('list prints one read model of a generation a line', async () => {
    const { code, lines } = await projecting()('projections', 'list');
    expect(code).toBe(0);
    const loan = { projection: 'loan', program_version: 1 };
    expect(lines).toEqual([
      { ...loan, generation: 1, state: 'serving', version: 1, position: '12', rows: 40 },
      { ...loan, generation: 2, state: 'building', version: null, position: 'start', rows: 0 },
    ]);
  });

  test('rebuild does all of them together', async () => {
    const { lines } = await projecting()('projections', 'rebuild');
    expect(lines).toEqual([
      { generation: 2, outcome: 'switched', resumed: false, events: 12, differences: 0 },
    ]);
  });

  test('rebuild prints what differs and fails, unless it is forced', async () => {
    const plain = await projecting(true)('projections', 'rebuild');
    expect(plain.code).toBe(4);
    expect(plain.lines[0]).toMatchObject({ projection: 'loan', table: 'loan', columns: difference.columns });
    expect(plain.err).toContain('--force');
    expect((await projecting(true)('projections', 'rebuild', '--force')).code).toBe(0);
  });

  test('rebuild goes on where its engine was away for a moment, and prints what differs once', async () => {
    const whole = readModels(true);
    let tries = 0;
    const rebuild: typeof whole.rebuild = async (request) => {
      const result = await whole.rebuild(request);
      if (++tries === 1) throw new StoreUnavailableError('PostgreSQL: the connection was ended');
      return result;
    };
    const command = commandLine(() => maintaining({ readModels: { ...whole, rebuild } }));
    const { code, lines } = await command('projections', 'rebuild');
    expect({ code, tries, lines: lines.length }).toEqual({ code: 4, tries: 2, lines: 2 });
  });

  test('drop-old names what is gone', async () => {
    expect((await projecting()('projections', 'drop-old')).lines).toEqual([{ dropped: [1] }]);
  });

  test('one read model is not rebuilt without the others', async () => {
    expect((await projecting()('projections', 'rebuild', 'loan')).code).toBe(2);
  });
});

describe('backup and restore', () => {
  const summary: BackupSummary = {
    program_version: '1.2.3',
    begun_at: '2026-01-15T12:00:00.000Z',
    log: { position: 5, events: 5, streams: 1 },
    master_key_contained: false,
    files: [{ size: 10 }, { size: 1_992_294 }],
  };
  const asked: object[] = [];
  const backups = {
    write: (request: object) => (asked.push(request), Promise.resolve(summary)),
    restore: (request: object) => (asked.push(request), Promise.resolve(summary)),
  };
  const command = commandLine(() => ({}), { backups });

  test('say what they did, and that the key is kept apart', async () => {
    const { code, err, lines } = await command('backup', '--to', 'there');
    expect({ code, line: lines[0] }).toMatchObject({
      code: 0,
      line: { backup: 'there', files: 2, bytes: 1_992_304, size: '1.9 MiB' },
    });
    expect(err).toContain('The master key is not in this backup');
    expect((await command('restore', '--from', 'there', '--data-dir', 'here')).lines[0].restored).toBe(
      'here',
    );
    expect(asked).toMatchObject([
      { to: 'there', withKey: false },
      { from: 'there', dataDir: 'here' },
    ]);
  });

  test('want to be told where', async () => {
    expect((await command('backup')).code).toBe(2);
    expect((await command('restore', '--from', 'there')).code).toBe(2);
  });
});
