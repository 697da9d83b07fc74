import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readConfiguration } from '../../../infrastructure/composition/configuration.ts';
import { openFoundations } from '../../../infrastructure/composition/foundations.ts';
import { PostgresDatabase } from '../../../infrastructure/postgres/postgres-database.ts';
import { query, testPostgres } from '../../support/postgres/test-postgres.ts';
import type { TestPostgres } from '../../support/postgres/test-postgres.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import { RunningService } from '../../support/running-service.ts';

let postgres: TestPostgres;
let service: RunningService;
beforeAll(async () => {
  postgres = await testPostgres();
  service = await RunningService.start();
  const fundId = '3f0c1e52-8a44-4b8e-9d64-0b7f6f1c2a10';
  await service.service.parts.funds.name({ fundId, name: 'Fundo Aurora', operator: 'ana' });
  await service.service.stop();
});
afterAll(async () => {
  await service.stop();
  await postgres.close();
});

test('a start that is refused because the database is empty leaves it so', async () => {
  const url = await postgres.schema();
  const { dataDir } = service.service.parts.configuration;
  const variables = { DATABASE_URL: url, MASTER_KEY: randomBytes(32).toString('base64') };
  const configuration = readConfiguration({ DATA_DIR: dataDir, METRICS_PORT: 'off', ...variables });
  for (const part of ['service', 'command'] as const)
    await expect(openFoundations(configuration, new RecordingLogger(), { part })).rejects.toThrow(
      'DATABASE_URL names an empty database, and the event store holds events',
    );
  const database = await PostgresDatabase.open({ url, logger: new RecordingLogger() });
  const tables = query('select tablename from pg_tables where schemaname = current_schema()');
  expect(await database.read(tables)).toEqual([]);
  await database.close();
});
