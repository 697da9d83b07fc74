import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { SqliteDatabase } from '../../../../infrastructure/sqlite/sqlite-database.ts';
import { RecordingLogger } from '../../../support/recording-logger.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';
import { counterMigrations } from '../../../support/sql/counter-migrations.ts';
import { query } from '../../../support/sql/temporary-database.ts';

const program = fileURLToPath(new URL('../../../support/sql/counting-process.ts', import.meta.url));
const run = promisify(execFile);

describe('a SQLite file that several processes use at once', () => {
  test('each step of the schema is run by exactly one, and no write is lost', async () => {
    const directory = temporaryDirectory();
    const path = join(directory, 'shared.db');
    const options = ['--disable-warning=ExperimentalWarning', program, path, '60'];
    const outputs = await Promise.all([1, 2, 3].map(() => run(process.execPath, options)));
    const applied = outputs.flatMap(({ stdout }) => JSON.parse(stdout) as string[]);
    expect(applied.toSorted()).toEqual(counterMigrations.map(({ id }) => id));

    const database = await SqliteDatabase.open({
      path,
      synchronous: 'NORMAL',
      logger: new RecordingLogger(),
    });
    expect(await database.read(query('select value from counter'))).toEqual([{ value: 1180 }]);
    await database.close();
  });
});
