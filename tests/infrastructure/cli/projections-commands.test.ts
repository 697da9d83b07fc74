import { describe, expect, test } from '@jest/globals';
import type { LogPosition } from '../../../application/ports/event-store.ts';
import type { RowDifference } from '../../../application/ports/projection-copies.ts';
import type { BackupSummary } from '../../../infrastructure/cli/backup-services.ts';
import type { ProjectionsServices } from '../../../infrastructure/cli/projections-services.ts';
import { commandLine } from '../../support/command-line.ts';

const place = (position: string) => ({ version: 1, position: position as LogPosition });
const difference: RowDifference = {
  table: 'loan',
  stream: 'loan-app.L1',
  key: { stream: 'loan-app.L1' },
  columns: { status: { live: 'active', copy: 'settled' } },
  only: undefined,
};

const services = (differs: boolean): ProjectionsServices => ({
  names: ['loan', 'portfolio'],
  show: () =>
    Promise.resolve({
      version: 1,
      places: { live: place('12'), copy: { ...place('7'), state: 'building' as const } },
      rows: { live: 40, copy: 20 },
    }),
  rebuild: ({ force, onProgress, onDifference }) => {
    onProgress(1);
    if (differs) onDifference(difference);
    return Promise.resolve({
      outcome: differs && !force ? ('differs' as const) : ('switched' as const),
      resumed: false,
      events: 12,
      differences: differs ? 1 : 0,
      position: '12' as LogPosition,
    });
  },
  drop: (name) => Promise.resolve(name === 'loan'),
});
const run = (differs = false) => commandLine(() => ({ projections: services(differs) }));

describe('projections', () => {
  test('list prints one read model a line, with its second copy', async () => {
    const { code, lines } = await run()('projections', 'list');
    expect(code).toBe(0);
    expect(lines).toHaveLength(2);
    expect(lines[0]).toEqual({
      projection: 'loan',
      program_version: 1,
      version: 1,
      position: '12',
      rows: 40,
      copy: { state: 'building', version: 1, position: '7', rows: 20 },
    });
  });

  test('rebuild does all of them without a name, and one with it', async () => {
    const all = await run()('projections', 'rebuild');
    expect(all.lines.map(({ projection, outcome }) => `${projection} ${outcome}`)).toEqual([
      'loan switched',
      'portfolio switched',
    ]);
    expect((await run()('projections', 'rebuild', 'loan')).lines).toHaveLength(1);
  });

  test('rebuild prints what differs and fails, unless it is forced', async () => {
    const plain = await run(true)('projections', 'rebuild', 'loan');
    expect(plain.code).toBe(1);
    expect(plain.lines[0]).toMatchObject({ table: 'loan', columns: difference.columns });
    expect(plain.err).toContain('--force');
    expect((await run(true)('projections', 'rebuild', 'loan', '--force')).code).toBe(0);
  });

  test('an unknown name is wrong use', async () => {
    for (const command of ['rebuild', 'drop-old']) {
      const { code, err } = await run()('projections', command, 'loans');
      expect(code).toBe(2);
      expect(err).toContain('there is no read model loans: one of loan, portfolio');
    }
    expect((await run()('projections', 'drop-old', 'portfolio')).lines[0]).toMatchObject({ dropped: false });
  });
});

describe('backup and restore', () => {
  const summary: BackupSummary = {
    program_version: '1.2.3',
    begun_at: '2026-01-15T12:00:00.000Z',
    log: { position: 5, events: 5, streams: 1 },
    master_key_contained: false,
    files: [{ size: 10 }, { size: 32 }],
  };
  const asked: object[] = [];
  const backups = () => ({
    write: (request: object) => (asked.push(request), Promise.resolve(summary)),
    restore: (request: object) => (asked.push(request), Promise.resolve(summary)),
  });
  const command = commandLine(() => ({}), { backups });

  test('say what they did, and that the key is kept apart', async () => {
    const { code, err, lines } = await command('backup', '--to', 'there');
    expect({ code, line: lines[0] }).toMatchObject({
      code: 0,
      line: { backup: 'there', files: 2, bytes: 42 },
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
