import { migrate } from '../../../application/sql/migrations/migrate.ts';
import { PostgresDatabase } from '../../../infrastructure/postgres/postgres-database.ts';
import { RecordingLogger } from '../recording-logger.ts';
import { bothSets } from '../postgres/test-postgres.ts';
import { counterMigrations } from './counter-migrations.ts';

const [url = ''] = process.argv.slice(2);
const database = await PostgresDatabase.open({ url, logger: new RecordingLogger() });
const applied = await migrate(database, [...bothSets, ...counterMigrations], '2026-01-15T12:00:00.000Z');
await database.close();
console.log(JSON.stringify(applied));
