import { migrate } from '../../../application/sql/migrations/migrate.ts';
import { SqliteDatabase } from '../../../infrastructure/sqlite/sqlite-database.ts';
import { RecordingLogger } from '../recording-logger.ts';
import { counterMigrations } from './counter-migrations.ts';
import { raw } from './temporary-database.ts';

const [path = '', rounds = '0'] = process.argv.slice(2);
const database = await SqliteDatabase.open({ path, synchronous: 'NORMAL', logger: new RecordingLogger() });
const applied = await migrate(database, counterMigrations, '2026-01-15T12:00:00.000Z');
for (let round = 0; round < Number(rounds); round++) {
  await database.transaction([raw('update counter set value = value + 1')]);
}
await database.close();
console.log(JSON.stringify(applied));
