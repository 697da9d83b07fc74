import { once } from 'node:events';
import { createConnection, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import type { Kysely } from 'kysely';
import { queryBuilder } from '../../../application/sql/engine.ts';
import { ConstraintError, GuardFailedError } from '../../../application/sql/sql-database.ts';
import { openPostgres, query, raw, testPostgres, throughPort } from '../../support/postgres/test-postgres.ts';

const SPOKEN = [
  ['SERROR\0', 'SERRO!\0'],
  ['"rows:', '\xabrows:'],
  ['SFATAL\0', 'SMORTE\0'],
] as const;

/** The words in which a server with other `lc_messages` refuses, as long as the English ones: `ERRO` and other quotation marks. */
const translated = (bytes: Buffer): Buffer =>
  Buffer.from(
    SPOKEN.reduce((text, [english, other]) => text.replaceAll(english, other), bytes.toString('latin1')),
    'latin1',
  );

const translator = async (port: number) => {
  const server = createServer((client) => {
    const behind = createConnection({ host: '127.0.0.1', port });
    client.pipe(behind);
    behind.on('data', (bytes) => client.write(translated(bytes)));
    behind.on('close', () => client.destroy()).on('error', () => client.destroy());
    client.on('close', () => behind.destroy()).on('error', () => behind.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, close: () => server.close() };
};

const account = {
  id: 'test-001',
  statements: () => ['create table account (id bigint not null primary key)'],
};
const build = queryBuilder('postgres') as unknown as Kysely<{ account: { readonly id: number } }>;

test('a server that speaks another language is understood, and its connection serves on after a refusal', async () => {
  const postgres = await testPostgres();
  const schema = await postgres.schema();
  const between = await translator(Number(new URL(schema).port));
  const fixture = await openPostgres(postgres, [account], {
    url: throughPort(schema, between.port),
    poolSize: 1,
  });
  const { database } = fixture;
  const pid = query<{ pid: number }>('select pg_backend_pid() as pid');
  try {
    const before = await database.read(pid);
    const absent = { query: build.deleteFrom('account').where('id', '=', 7).compile(), expectChanges: 1 };
    await expect(database.transaction([absent])).rejects.toThrow(GuardFailedError);
    await database.transaction([raw('insert into account values (1)')]);
    await expect(database.transaction([raw('insert into account values (1)')])).rejects.toThrow(
      ConstraintError,
    );
    expect(await database.read(pid)).toEqual(before);
    const told = database.read(query('select pg_terminate_backend(pg_backend_pid())'));
    await expect(told).rejects.toThrow('(57P01)');
    expect(await database.read(pid)).not.toEqual(before);
  } finally {
    await fixture.close();
    between.close();
    await postgres.close();
  }
});
