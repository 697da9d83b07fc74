import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { backupsOf, requireServiceData } from '../../infrastructure/composition/data-directory.ts';
import { examine } from '../../infrastructure/composition/maintenance/doctor.ts';
import { readConfiguration } from '../../infrastructure/composition/configuration.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { RunningService } from '../support/running-service.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const ELSEWHERE = {
  EVENTSTORE_URL: 'esdb://127.0.0.1:1?tls=false',
  DATABASE_URL: 'postgres://127.0.0.1:1/none',
  S3_URL: 'https://key:secret@127.0.0.1:1/bucket?region=sa-east-1',
};
const MASTER_KEY = randomBytes(32).toString('base64');

const directory = temporaryDirectory();

describe('on a directory without a service', () => {
  const dataDir = (): string => join(directory, 'none');
  const refuses = (more: Readonly<Record<string, string>> = {}): unknown => {
    try {
      requireServiceData(readConfiguration({ DATA_DIR: dataDir(), ...more }));
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  };

  test('a command ends with 1, names it and makes nothing', async () => {
    const { NODE_OPTIONS: _, ...environment } = process.env;
    const args = [
      '--disable-warning=ExperimentalWarning',
      'infrastructure/composition/receivables.ts',
      'client',
      'list',
    ];
    const options = { cwd: root, env: { ...environment, DATA_DIR: dataDir() } };
    await expect(promisify(execFile)(process.execPath, args, options)).rejects.toMatchObject({
      code: 1,
      stdout: '',
      stderr: `error: no service data in ${dataDir()}; is DATA_DIR that of the service?\n`,
    });
    expect(existsSync(dataDir())).toBe(false);
  });

  test('so do backup and doctor', async () => {
    const request = { to: join(directory, 'backup'), withKey: false, onStep: () => undefined };
    await expect(backupsOf({ DATA_DIR: dataDir() }).write(request)).rejects.toThrow('no service data in');
    const findings = await examine({ DATA_DIR: dataDir() }, () => new RecordingLogger());
    expect(findings.find(({ check }) => check === 'data_directory')).toMatchObject({ state: 'failed' });
    expect(await readdir(directory)).toEqual([]);
  });

  test('it is one as long as any engine keeps something there, and not with all of them elsewhere', async () => {
    for (const embedded of Object.keys(ELSEWHERE)) {
      const { [embedded as 'S3_URL']: __, ...others } = ELSEWHERE;
      expect(refuses({ ...others, MASTER_KEY })).toContain('no service data');
    }
    expect(refuses({ ...ELSEWHERE, MASTER_KEY })).toBeUndefined();
    expect(refuses(ELSEWHERE)).toContain('holds no master key');
  });

  test('other files do not make it one; a key is asked for where the service keeps it', async () => {
    const other = join(directory, 'other');
    await mkdir(other);
    await writeFile(join(other, 'notes.txt'), '');
    expect(refuses({ DATA_DIR: other })).toContain('no service data');
    for (const file of ['events.db', 'service.db']) await writeFile(join(other, file), '');
    expect(refuses({ DATA_DIR: other })).toContain('holds no master key');
    expect(refuses({ DATA_DIR: other, MASTER_KEY })).toBeUndefined();
  });
});

test('beside a running service, doctor finds nothing wrong and status says who runs', async () => {
  const running = await RunningService.start();
  try {
    const { parts } = running.service;
    const { dataDir } = parts.configuration;
    const findings = await examine({ DATA_DIR: dataDir }, () => new RecordingLogger());
    expect(findings.filter(({ state }) => state === 'failed')).toEqual([]);
    expect(findings.map(({ check }) => check)).toEqual(
      expect.arrayContaining(['master_key', 'permissions', 'disk', 'clock', 'event_store', 'versions']),
    );
    const wrongKey = await examine({ DATA_DIR: dataDir, MASTER_KEY }, () => new RecordingLogger());
    expect(wrongKey.find(({ state }) => state === 'failed')?.check).toBe('master_key');
    const status = await parts.maintenance.status();
    expect(status).toMatchObject({ running: true, place: dataDir, operations: [] });
    expect(status.found).toContain(`process ${process.pid}`);
    expect(status.followers.map(({ name, behind }) => [name, behind])).toEqual([
      ...[
        ['relay', 0],
        ['loan', 0],
      ],
    ]);
  } finally {
    await running.stop();
  }
});
