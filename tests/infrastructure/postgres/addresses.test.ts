import { expect, test } from '@jest/globals';
import { eachServer, flawOf } from '../../../infrastructure/postgres/addresses.ts';

test('each server of an address has its user, database and settings', () => {
  expect(eachServer('postgres://u:p%40@a:5432,b:5433,c/db?sslmode=verify-full')).toEqual([
    'postgres://u:p%40@a:5432/db?sslmode=verify-full',
    'postgres://u:p%40@b:5433/db?sslmode=verify-full',
    'postgres://u:p%40@c/db?sslmode=verify-full',
  ]);
  for (const url of [
    'postgres://a/db',
    'postgres:///db?host=/run/postgresql',
    'postgresql://u@[::1]:5432/db',
  ])
    expect(eachServer(url)).toEqual([url]);
});

test.each([
  'postgres://a/db',
  'postgres://a,b/db?target_session_attrs=read-write',
  'postgres:///db?host=/run',
  'postgres://u:p@/db?host=/run',
  'postgres://u:p w@a/db',
])('%s can be worked at', (url) => expect(flawOf(url)).toBeUndefined());

test.each([
  ['postgres://a,,b/db', 'one of them is empty'],
  ['postgres://a:port,b/db', 'one of them is empty or cannot be read'],
  ['postgres://a:65536/db', 'cannot be read'],
  ['postgres://u:p/w@a/db', 'percent-encoded'],
  ['postgres://a,b/db?target_session_attrs=any', 'must leave target_session_attrs out'],
])('%s is refused', (url, reason) => expect(flawOf(url)).toContain(reason));
