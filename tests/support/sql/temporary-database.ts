import { join } from 'node:path';
import { CompiledQuery } from 'kysely';
import { migrate } from '../../../application/sql/migrations/migrate.ts';
import type { Migration } from '../../../application/sql/migrations/migrate.ts';
import { readModelMigrations } from '../../../application/sql/read-model-tables.ts';
import { serviceMigrations } from '../../../application/sql/migrations/service.ts';
import type { Statement } from '../../../application/sql/sql-database.ts';
import { SqliteDatabase } from '../../../infrastructure/sqlite/sqlite-database.ts';
import type { SqliteOptions } from '../../../infrastructure/sqlite/sqlite-database.ts';
import { RecordingLogger } from '../recording-logger.ts';
import { temporaryDirectory } from '../temporary-directory.ts';

export interface TemporaryDatabase {
  readonly database: SqliteDatabase;
  readonly path: string;
  readonly logger: RecordingLogger;
  readonly close: () => Promise<void>;
}

export const openTemporary = async (
  migrations: readonly Migration[],
  options: Partial<SqliteOptions> = {},
): Promise<TemporaryDatabase> => {
  const directory = temporaryDirectory();
  const path = join(directory, 'test.db');
  const logger = new RecordingLogger();
  const database = await SqliteDatabase.open({ path, synchronous: 'NORMAL', logger, ...options });
  const close = async (): Promise<void> => {
    await database.close();
  };
  await migrate(database, migrations, '2026-01-15T12:00:00.000Z').catch(async (error: unknown) => {
    await close();
    throw error;
  });
  return { database, path, logger, close };
};

export const openServiceDatabase = (options: Partial<SqliteOptions> = {}): Promise<TemporaryDatabase> =>
  openTemporary(serviceMigrations, options);
export const openReadModel = (): Promise<TemporaryDatabase> => openTemporary(readModelMigrations);

/** A statement from SQL text, for what the builder has no words for. */
export const raw = (text: string, ...parameters: readonly unknown[]): Statement => ({
  query: CompiledQuery.raw(text, [...parameters]),
});
export const query = <Row>(text: string, ...parameters: readonly unknown[]) => ({
  compile: () => CompiledQuery.raw(text, [...parameters]) as CompiledQuery<Row>,
});
