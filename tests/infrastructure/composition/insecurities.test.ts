import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import {
  readConfiguration,
  readServiceConfiguration,
} from '../../../infrastructure/composition/configuration.ts';

const PRODUCTION = {
  ENVIRONMENT: 'production',
  MASTER_KEY: randomBytes(32).toString('base64'),
  PUBLIC_URL: 'https://api.example.com',
  AUTH_URL: 'https://api.example.com',
};
type Variables = Readonly<Record<string, string | undefined>>;

const refusal = (variables: Variables): string => {
  try {
    readServiceConfiguration(variables);
    return 'none';
  } catch (error) {
    return (error as Error).message;
  }
};

describe('production refuses what travels unprotected', () => {
  test.each<[string, string, Variables]>([
    ['PUBLIC_URL', 'public-url', { PUBLIC_URL: 'http://api.example.com' }],
    ['AUTH_URL', 'public-url', { AUTH_URL: 'http://10.0.0.7:3000/oauth' }],
    ['EVENTSTORE_URL', 'eventstore', { EVENTSTORE_URL: 'esdb://admin:secret@streams:2113?tls=false' }],
    [
      'EVENTSTORE_URL',
      'eventstore',
      { EVENTSTORE_URL: 'esdb+discover://127.0.0.1,b:2113/?keepAlive=1&TLS=false' },
    ],
    ['EVENTSTORE_URL', 'eventstore', { EVENTSTORE_URL: 'esdb://streams:2113?tls=true&tlsVerifyCert=false' }],
    ['KAFKA_TLS', 'kafka', { KAFKA_BROKERS: 'kafka:9092' }],
    ['KAFKA_TLS', 'kafka', { KAFKA_BROKERS: '127.0.0.1:9092,kafka:9092', KAFKA_TLS: 'false' }],
    ['DATABASE_URL', 'database', { DATABASE_URL: 'postgres://user:secret@db/receivables' }],
    ['DATABASE_URL', 'database', { DATABASE_URL: 'postgres://db/receivables?sslmode=disable' }],
    ['DATABASE_URL', 'database', { DATABASE_URL: 'postgres://db/receivables?sslmode=no-verify' }],
    ['DATABASE_URL', 'database', { DATABASE_URL: 'postgres://localhost/receivables?host=db' }],
  ])('%s, unless ALLOW_INSECURE names %s: %j', (variable, insecurity, variables) => {
    const message = refusal({ ...PRODUCTION, ...variables });
    expect(message).toMatch(new RegExp(`^${variable} [^\n]+ ALLOW_INSECURE$`));
    expect(message).toContain(insecurity);
    expect(message).not.toContain('secret');
    expect(refusal({ ...PRODUCTION, ...variables, ALLOW_INSECURE: `files, ${insecurity}` })).toBe('none');
    const others = ['public-url', 'eventstore', 'kafka', 'database', 'files'].filter(
      (one) => one !== insecurity,
    );
    expect(refusal({ ...PRODUCTION, ...variables, ALLOW_INSECURE: others.join() })).toBe(message);
    expect(refusal({ ...variables, ENVIRONMENT: 'sandbox' })).toBe('none');
  });

  test.each<[Variables]>([
    [{}],
    [{ PUBLIC_URL: 'http://localhost:3000', AUTH_URL: 'http://[::1]:3000/oauth' }],
    [{ EVENTSTORE_URL: 'esdb://user:password@streams:2113' }],
    [{ EVENTSTORE_URL: 'esdb://user:password@localhost:2113,127.0.0.1:2114?tls=false' }],
    [{ KAFKA_BROKERS: 'kafka:9092', KAFKA_TLS: 'true' }],
    [{ KAFKA_BROKERS: 'localhost:9092,[::1]:9093' }],
    [{ DATABASE_URL: 'postgres://db/receivables?sslmode=verify-full' }],
    [{ DATABASE_URL: 'postgres://127.0.0.1/receivables' }],
    [{ DATABASE_URL: 'postgres:///receivables?host=/var/run/postgresql' }],
  ])('and lets through what is protected, or never leaves the machine: %j', (variables) => {
    expect(refusal({ ...PRODUCTION, ...variables })).toBe('none');
  });

  test.each(['PUBLIC_URL', 'AUTH_URL'])('a service whose %s nobody set', (name) => {
    expect(refusal({ ...PRODUCTION, [name]: undefined })).toMatch(
      new RegExp(`^${name} is required in production[^\n]+$`),
    );
    expect(() => readConfiguration({ ...PRODUCTION, [name]: undefined })).not.toThrow();
  });
});
