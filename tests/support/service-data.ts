import { join } from 'node:path';
import { migrate } from '../../application/sql/migrations/migrate.ts';
import { serviceMigrations } from '../../application/sql/migrations/service.ts';
import { SqliteGenerationTables } from '../../infrastructure/sqlite/sqlite-generation-tables.ts';
import type { SqlDatabase } from '../../application/sql/sql-database.ts';
import { SqliteDatabase } from '../../infrastructure/sqlite/sqlite-database.ts';
import { RecordingLogger } from './recording-logger.ts';
import { ServiceProcess } from './service-process.ts';

/** What a first start leaves in a data directory, with an application linked to the fund where one is named. */
export const makeServiceData = async (dataDir: string, fundId?: string): Promise<void> => {
  const service = await ServiceProcess.start(dataDir);
  if (fundId !== undefined) await service.createClient(fundId);
  await service.end('SIGTERM');
};

const NOW = '2026-01-15T12:00:00.000Z';

/** The tables of a first generation that serves in a data directory, without any events behind it. */
export const openServingGeneration = async (dataDir: string): Promise<SqlDatabase> => {
  const logger = new RecordingLogger();
  const service = await SqliteDatabase.open({
    path: join(dataDir, 'service.db'),
    synchronous: 'FULL',
    logger,
  });
  try {
    await migrate(service, serviceMigrations, NOW);
    const register = service.builder
      .insertInto('read_model_generation')
      .values({ number: 1, state: 'serving' })
      .onConflict((conflict) => conflict.doNothing());
    await service.transaction([{ query: register.compile() }]);
  } finally {
    await service.close();
  }
  return new SqliteGenerationTables(dataDir, { logger }, () => NOW).open(1);
};
