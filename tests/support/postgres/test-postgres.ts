import { randomUUID } from 'node:crypto';
import { CompiledQuery } from 'kysely';
import { Client } from 'pg';
import { migrate } from '../../../application/sql/migrations/migrate.ts';
import type { Migration } from '../../../application/sql/migrations/migrate.ts';
import { PostgresDatabase } from '../../../infrastructure/postgres/postgres-database.ts';
import type { PostgresOptions } from '../../../infrastructure/postgres/postgres-database.ts';
import { readModelMigrations } from '../../../application/sql/read-model-tables.ts';
import { serviceMigrations } from '../../../application/sql/migrations/service.ts';
import { RecordingLogger } from '../recording-logger.ts';
import { PostgresServer } from './postgres-server.ts';

export interface TestPostgres {
  /** The URL of an empty schema of its own. */
  schema(): Promise<string>;
  /** Drops the database with the schemas, whoever is still connected to it. */
  close(): Promise<void>;
}

/** Whatever a client of this URL creates lies in that schema. */
const within = (url: string, schema: string): string => {
  const place = new URL(url);
  const options = [place.searchParams.get('options'), `-c search_path=${schema}`];
  place.searchParams.set('options', options.filter(Boolean).join(' '));
  return place.href;
};

const uniqueName = (): string => `test_${randomUUID().replaceAll('-', '')}`;

const onServer = async (url: string, statement: string): Promise<void> => {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
};

let server: Promise<PostgresServer> | undefined;

/** The server of DATABASE_URL where it is given, else one for all files of this process, with which it ends. */
const serverUrl = async (): Promise<string> =>
  process.env['DATABASE_URL'] ?? (await (server ??= PostgresServer.forThisProcess())).url;

/** A database of its own: locks, notifications and what holds back a vacuum are those of one database. */
export const testPostgres = async (): Promise<TestPostgres> => {
  const url = await serverUrl();
  const database = uniqueName();
  await onServer(url, `create database ${database}`);
  const own = new URL(url);
  own.pathname = database;
  return {
    schema: async () => {
      const name = uniqueName();
      await onServer(own.href, `create schema ${name}`);
      return within(own.href, name);
    },
    close: () => onServer(url, `drop database ${database} with (force)`),
  };
};

export interface PostgresFixture {
  readonly database: PostgresDatabase;
  readonly url: string;
  readonly logger: RecordingLogger;
  close(): Promise<void>;
}

/** A database in a schema of its own, with these tables. */
export const openPostgres = async (
  postgres: Pick<TestPostgres, 'schema'>,
  migrations: readonly Migration[],
  options: Partial<PostgresOptions> = {},
): Promise<PostgresFixture> => {
  const url = options.url ?? (await postgres.schema());
  const logger = new RecordingLogger();
  const database = await PostgresDatabase.open({ logger, ...options, url });
  const close = (): Promise<void> => database.close();
  await migrate(database, migrations, '2026-01-15T12:00:00.000Z').catch(async (error: unknown) => {
    await close();
    throw error;
  });
  return { database, url, logger, close };
};

export const bothSets: readonly Migration[] = [...serviceMigrations, ...readModelMigrations];

/** The same server by another way, such as through a proxy. */
export const throughPort = (url: string, port: number): string => {
  const place = new URL(url);
  place.hostname = '127.0.0.1';
  place.port = String(port);
  return place.href;
};

/** A statement from SQL text with `$1`, `$2`. */
export const raw = (text: string, ...parameters: readonly unknown[]) => ({
  query: CompiledQuery.raw(text, [...parameters]),
});
export const query = <Row>(text: string, ...parameters: readonly unknown[]) => ({
  compile: () => CompiledQuery.raw(text, [...parameters]) as CompiledQuery<Row>,
});

/** One address for several servers, whichever of them is the primary. */
export const severalServers = (...servers: readonly PostgresServer[]): string => {
  const hosts = servers.map(({ port }) => `127.0.0.1:${port}`).join(',');
  return servers[0]!.url.replace(`127.0.0.1:${servers[0]!.port}`, hosts);
};
