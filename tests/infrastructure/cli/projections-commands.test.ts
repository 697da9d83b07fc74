import { describe, expect, test } from '@jest/globals';
import { StoreUnavailableError } from '../../../application/ports/event-store.ts';
import type { LogPosition } from '../../../application/ports/event-store.ts';
import type { RowDifference } from '../../../application/maintenance/rebuild/table-comparison.ts';
import type { Projection } from '../../../projections/projection.ts';
import type { Maintenance } from '../../../application/maintenance/maintenance.ts';
import type { BackupSummary } from '../../../infrastructure/cli/command-line.ts';
import { commandLine, maintaining } from '../../support/command-line.ts';

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
const run = (differs = false) => commandLine(() => maintaining({ readModels: readModels(differs) }));

describe('projections', () => {
  test('list prints one read model of a generation a line', async () => {
    const { code, lines } = await run()('projections', 'list');
    expect(code).toBe(0);
    const loan = { projection: 'loan', program_version: 1 };
    expect(lines).toEqual([
      { ...loan, generation: 1, state: 'serving', version: 1, position: '12', rows: 40 },
      { ...loan, generation: 2, state: 'building', version: null, position: 'start', rows: 0 },
    ]);
  });

  test('rebuild does all of them together', async () => {
    const { lines } = await run()('projections', 'rebuild');
    expect(lines).toEqual([
      { generation: 2, outcome: 'switched', resumed: false, events: 12, differences: 0 },
    ]);
  });

  test('rebuild prints what differs and fails, unless it is forced', async () => {
    const plain = await run(true)('projections', 'rebuild');
    expect(plain.code).toBe(4);
    expect(plain.lines[0]).toMatchObject({ projection: 'loan', table: 'loan', columns: difference.columns });
    expect(plain.err).toContain('--force');
    expect((await run(true)('projections', 'rebuild', '--force')).code).toBe(0);
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
    expect((await run()('projections', 'drop-old')).lines).toEqual([{ dropped: [1] }]);
  });

  test('one read model is not rebuilt without the others', async () => {
    expect((await run()('projections', 'rebuild', 'loan')).code).toBe(2);
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
