import { execFileSync } from 'node:child_process';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { X509Certificate, randomBytes } from 'node:crypto';
import { rootCertificates } from 'node:tls';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { readConfiguration } from '../../../infrastructure/composition/configuration.ts';
import { ConfigurationError } from '../../../infrastructure/composition/environment-reader.ts';
import { MasterKey } from '../../../infrastructure/security/master-key.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const MASTER_KEY = randomBytes(32).toString('base64');

const kafkaUser = { KAFKA_BROKERS: 'a:9092, [::1]:9093', KAFKA_USERNAME: 'u', KAFKA_PASSWORD: 'p' };

describe('configuration', () => {
  const directory = temporaryDirectory();
  let roots: string;
  beforeAll(async () => {
    roots = join(directory, 'roots.pem');
    await writeFile(roots, rootCertificates.slice(0, 2).join('\n'));
    await writeFile(join(directory, 'broken.pem'), 'not a certificate');
  });

  test('of nothing is the sandbox, embedded, on port 3000', () => {
    expect(readConfiguration({})).toEqual({
      host: '127.0.0.1',
      port: 3000,
      metrics: { host: '127.0.0.1', port: 9464 },
      publicUrl: 'http://localhost:3000',
      authUrl: 'http://localhost:3000',
      environment: 'sandbox',
      dataDir: resolve('data'),
      engines: {
        eventStoreUrl: undefined,
        kafkaBrokers: undefined,
        databaseUrl: undefined,
        s3Url: undefined,
      },
      allowInsecure: [],
      databaseFailover: 'checked',
      kafka: undefined,
      roles: ['api', 'projector', 'relay', 'webhooks', 'scheduler'],
      masterKey: undefined,
      cacheMemory: 192 * 1_048_576,
      sandboxStep: 2_000,
      strict: false,
      disbursementTolerance: 1_000,
      webhooks: {
        retrySchedule: [30_000, 120_000, 600_000, 3_600_000, 14_400_000, 43_200_000, 86_400_000],
        timeout: 10_000,
        extraRoots: undefined,
        allowPrivateNetwork: false,
      },
      trustProxy: 0,
      logLevel: 'info',
    });
  });

  test('reads how to reach Kafka', () => {
    expect(readConfiguration({ ...kafkaUser, KAFKA_TLS: 'true', KAFKA_TOPIC_PREFIX: 'a.' }).kafka).toEqual({
      brokers: ['a:9092', '[::1]:9093'],
      tls: true,
      sasl: { mechanism: 'scram-sha-512', username: 'u', password: 'p' },
      topicPrefix: 'a.',
      replication: 2,
    });
    expect(readConfiguration({ KAFKA_BROKERS: 'a:9092' }).kafka).toMatchObject({
      tls: false,
      topicPrefix: '',
    });
  });

  test.each([
    [{ KAFKA_BROKERS: 'a:9092' }, 1],
    [{ KAFKA_BROKERS: 'a:9092,a:9092' }, 1],
    [{ KAFKA_BROKERS: 'a:9092,b:9092,c:9092,d:9092' }, 3],
    [{ KAFKA_BROKERS: 'a:9092', KAFKA_REPLICATION: '3' }, 3],
  ])(
    'topics get three copies, or as many as brokers are named, or as KAFKA_REPLICATION says: %j',
    (given, copies) => {
      expect(readConfiguration(given).kafka?.replication).toBe(copies);
    },
  );

  test.each(['0', '10', 'three', '-1', '1.5'])('KAFKA_REPLICATION=%s is refused', (KAFKA_REPLICATION) => {
    expect(() => readConfiguration({ KAFKA_BROKERS: 'a:9092', KAFKA_REPLICATION })).toThrow(
      /^KAFKA_REPLICATION must be a whole number from 1 to 9/,
    );
  });

  test.each([
    [undefined, 1_000],
    ['0', 0],
    ['2.5', 250],
    ['100', 10_000],
  ])('DISBURSEMENT_TOLERANCE=%s is so many basis points: %s', (DISBURSEMENT_TOLERANCE, points) => {
    expect(readConfiguration({ DISBURSEMENT_TOLERANCE }).disbursementTolerance).toBe(points);
  });

  test.each(['-1', '100.01', '1e1', '10%', '0.001', 'ten'])(
    'DISBURSEMENT_TOLERANCE=%s is refused',
    (DISBURSEMENT_TOLERANCE) => {
      expect(() => readConfiguration({ DISBURSEMENT_TOLERANCE })).toThrow(
        /^DISBURSEMENT_TOLERANCE must be a number of percent/,
      );
    },
  );

  test('shows an announced deprecation as the header does', () => {
    const { apiDeprecation } = readConfiguration({ API_DEPRECATION: '2027.3.0@2027-03-01' });
    expect(apiDeprecation).toBe('2027.3.0; effective=2027-03-01');
    expect(readConfiguration({}).apiDeprecation).toBeUndefined();
  });

  test.each([
    'soon',
    '2027.3.0',
    '2027.3@2027-03-01',
    '2027.3.0@2027-13-01',
    '2027.3.0@2027-02-30',
    '2027.3.0@2027-03-01\r\nX: 1',
  ])('refuses %j as one', (text) => {
    const read = () => readConfiguration({ API_DEPRECATION: text });
    expect(read).toThrow(ConfigurationError);
    expect(read).toThrow(/API_DEPRECATION/);
  });

  test('S3_URL is refused where it is read, without its secret', () => {
    const read = () => readConfiguration({ S3_URL: 's3://key:hush@bucket' });
    expect(read).toThrow(ConfigurationError);
    expect(read).toThrow(/^S3_URL must be like https:(?!.*hush)/);
  });

  test('takes every variable', async () => {
    const configuration = readConfiguration({
      HOST: '127.0.0.1',
      PORT: '8080',
      PUBLIC_URL: 'https://api.example/v1/',
      AUTH_URL: 'https://auth.example',
      ENVIRONMENT: 'production',
      DATA_DIR: '/var/lib/receivables',
      EVENTSTORE_URL: 'esdb://localhost:2113',
      KAFKA_BROKERS: 'localhost:9092,127.0.0.1:9093',
      DATABASE_URL: 'postgres://localhost/db',
      S3_URL: 'https://key:secret@s3.example/bucket',
      ROLES: 'webhooks, api',
      MASTER_KEY,
      SANDBOX_STEP: '300ms',
      WEBHOOK_RETRY_SCHEDULE: '100ms, 2s,3m,1h,30d',
      WEBHOOK_TIMEOUT: '1s',
      WEBHOOK_CA_FILE: roots,
      WEBHOOK_ALLOW_PRIVATE_NETWORK: 'false',
      TRUST_PROXY: '2',
      LOG_LEVEL: 'debug',
    });
    expect(configuration).toMatchObject({
      host: '127.0.0.1',
      port: 8080,
      publicUrl: 'https://api.example/v1',
      authUrl: 'https://auth.example',
      environment: 'production',
      dataDir: '/var/lib/receivables',
      engines: {
        eventStoreUrl: 'esdb://localhost:2113',
        kafkaBrokers: 'localhost:9092,127.0.0.1:9093',
        databaseUrl: 'postgres://localhost/db',
        s3Url: 'https://key:secret@s3.example/bucket',
      },
      roles: ['api', 'webhooks'],
      sandboxStep: 300,
      strict: true,
      webhooks: {
        retrySchedule: [100, 2_000, 180_000, 3_600_000, 2_592_000_000],
        timeout: 1_000,
        allowPrivateNetwork: false,
      },
      trustProxy: 2,
      logLevel: 'debug',
    });
    expect(configuration.masterKey?.derive('x')).toEqual(MasterKey.parse(MASTER_KEY)?.derive('x'));
    const first = new X509Certificate(configuration.webhooks.extraRoots ?? '');
    expect(first.fingerprint256).toBe(new X509Certificate(rootCertificates[0] ?? '').fingerprint256);
  });

  test('a sandbox may check everything as in production', () => {
    expect(readConfiguration({ SANDBOX_STRICT: 'true' }).strict).toBe(true);
  });

  test('a private network is allowed in the sandbox, and blanks count as unset', () => {
    const { webhooks } = readConfiguration({ WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true' });
    expect(webhooks.allowPrivateNetwork).toBe(true);
    const blank = readConfiguration({ PORT: '', MASTER_KEY: ' ', ROLES: ' ', DATABASE_URL: '' });
    expect(blank).toEqual(readConfiguration({}));
  });

  test('a missing master key is answered with the command that makes one', () => {
    const message = /^MASTER_KEY .*: node -p "(.+)"$/;
    const error = (() => {
      try {
        return readConfiguration({ ENVIRONMENT: 'production' });
      } catch (caught) {
        return caught as Error;
      }
    })();
    const [, script] = message.exec((error as Error).message) ?? [];
    const made = execFileSync(process.execPath, ['-p', script!], { encoding: 'utf8' }).trim();
    expect(readConfiguration({ ENVIRONMENT: 'production', MASTER_KEY: made }).masterKey).toBeDefined();
  });

  test('listens to this machine alone in the sandbox, to every network in production', () => {
    expect(readConfiguration({}).host).toBe('127.0.0.1');
    expect(readConfiguration({ ENVIRONMENT: 'production', MASTER_KEY }).host).toBe('0.0.0.0');
    expect(readConfiguration({ HOST: '0.0.0.0' }).host).toBe('0.0.0.0');
  });

  test('the addresses follow the port', () => {
    expect(readConfiguration({ PORT: '4711' })).toMatchObject({
      publicUrl: 'http://localhost:4711',
      authUrl: 'http://localhost:4711',
    });
  });

  test('cannot be changed', () => {
    const configuration = readConfiguration({});
    const parts = [configuration, configuration.engines, configuration.roles, configuration.webhooks];
    expect([...parts, configuration.webhooks.retrySchedule].every(Object.isFrozen)).toBe(true);
  });

  const production = { ENVIRONMENT: 'production', MASTER_KEY };
  test.each<[string, Record<string, string>]>([
    ['PORT', { PORT: '0' }],
    ['PORT', { PORT: '65536' }],
    ['PORT', { PORT: '80a' }],
    ['PORT', { PORT: '-1' }],
    ['PUBLIC_URL', { PUBLIC_URL: 'api.example' }],
    ['PUBLIC_URL', { PUBLIC_URL: 'ftp://api.example' }],
    ['PUBLIC_URL', { PUBLIC_URL: 'https://user:password@api.example' }],
    // The parser of addresses leaves line breaks out without a word; what is shown to clients would have them.
    ['PUBLIC_URL', { PUBLIC_URL: 'https://api.example/v1\n/x' }],
    ['AUTH_URL', { AUTH_URL: 'https://auth.example/?a=1' }],
    ['ALLOW_INSECURE', { ALLOW_INSECURE: 'everything' }],
    ['ALLOW_INSECURE', { ALLOW_INSECURE: 'files,' }],
    ['ENVIRONMENT', { ENVIRONMENT: 'staging' }],
    ['ENVIRONMENT', { ENVIRONMENT: 'Production' }],
    ['ROLES', { ROLES: 'api,worker' }],
    ['ROLES', { ROLES: 'api,,relay' }],
    ['ROLES', { ROLES: 'all,api' }],
    ['DATABASE_URL', { DATABASE_URL: 'mysql://user:secret@db/receivables' }],
    ['EVENTSTORE_URL', { EVENTSTORE_URL: 'localhost:2113' }],
    ['KAFKA_BROKERS', { KAFKA_BROKERS: 'localhost' }],
    ['KAFKA_BROKERS', { KAFKA_BROKERS: 'a:9092,' }],
    ['KAFKA_BROKERS', { KAFKA_BROKERS: 'a:65536' }],
    ['KAFKA_BROKERS', { KAFKA_BROKERS: 'a:9092,[::1]:0' }],
    ['KAFKA_SASL_MECHANISM', { KAFKA_SASL_MECHANISM: 'gssapi' }],
    ['DATABASE_URL', { DATABASE_URL: 'postgres://u:secret@db:65536/receivables' }],
    ['DATABASE_URL', { DATABASE_URL: 'postgres://u:sec/ret@db/receivables' }],
    ['KAFKA_REPLICATION', { KAFKA_BROKERS: 'a:9092', KAFKA_REPLICATION: '10' }],
    ['KAFKA_REPLICATION', { KAFKA_REPLICATION: 'many' }],
    ['KAFKA_TLS', { KAFKA_TLS: 'yes' }],
    ['KAFKA_TOPIC_PREFIX', { KAFKA_BROKERS: 'a:9092', KAFKA_TOPIC_PREFIX: 'a/b' }],
    ['KAFKA_PASSWORD', { KAFKA_BROKERS: 'a:9092', KAFKA_USERNAME: 'u' }],
    ['KAFKA_SASL_MECHANISM', { ...kafkaUser, KAFKA_SASL_MECHANISM: 'gssapi' }],
    ['MASTER_KEY', { ENVIRONMENT: 'production' }],
    ['MASTER_KEY', { MASTER_KEY: 'secret' }],
    ['MASTER_KEY_PREVIOUS', { MASTER_KEY, MASTER_KEY_PREVIOUS: 'secret' }],
    ['MASTER_KEY_PREVIOUS', { MASTER_KEY_PREVIOUS: MASTER_KEY }],
    ['MASTER_KEY', { MASTER_KEY: randomBytes(16).toString('base64') }],
    ['SANDBOX_STEP', { SANDBOX_STEP: '2' }],
    ['SANDBOX_STEP', { SANDBOX_STEP: '2 s' }],
    ['SANDBOX_STEP', { SANDBOX_STEP: '-2s' }],
    ['SANDBOX_STEP', { SANDBOX_STEP: '1.5s' }],
    ['WEBHOOK_RETRY_SCHEDULE', { WEBHOOK_RETRY_SCHEDULE: '30s,' }],
    ['WEBHOOK_RETRY_SCHEDULE', { WEBHOOK_RETRY_SCHEDULE: '30s,0s' }],
    ['WEBHOOK_RETRY_SCHEDULE', { WEBHOOK_RETRY_SCHEDULE: '366d' }],
    ['WEBHOOK_TIMEOUT', { WEBHOOK_TIMEOUT: '25d' }],
    ['WEBHOOK_TIMEOUT', { WEBHOOK_TIMEOUT: '0s' }],
    ['WEBHOOK_CA_FILE', { WEBHOOK_CA_FILE: '/nowhere/roots.pem' }],
    ['WEBHOOK_ALLOW_PRIVATE_NETWORK', { WEBHOOK_ALLOW_PRIVATE_NETWORK: 'yes' }],
    ['SANDBOX_STRICT', { ...production, SANDBOX_STRICT: 'true' }],
    ['SANDBOX_STRICT', { SANDBOX_STRICT: 'yes please' }],
    ['WEBHOOK_ALLOW_PRIVATE_NETWORK', { ...production, WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true' }],
    ['TRUST_PROXY', { TRUST_PROXY: 'true' }],
    ['TRUST_PROXY', { TRUST_PROXY: '17' }],
    ['LOG_LEVEL', { LOG_LEVEL: 'verbose' }],
    ['LOG_LEVEL', { LOG_LEVEL: 'a\nb' }],
  ])('%s is named when it is wrong: %j', (name, variables) => {
    expect(() => readConfiguration(variables)).toThrow(ConfigurationError);
    expect(() => readConfiguration(variables)).toThrow(new RegExp(`^${name} [^\n]+$`));
  });

  test('a file without certificates is refused', () => {
    const WEBHOOK_CA_FILE = join(directory, 'broken.pem');
    expect(() => readConfiguration({ WEBHOOK_CA_FILE })).toThrow(/^WEBHOOK_CA_FILE must be a PEM file/);
  });

  test('what may be secret is not repeated in the message', () => {
    for (const variables of [{ MASTER_KEY: 'hunter2' }, { PUBLIC_URL: 'https://user:hunter2@api.example' }]) {
      const attempt = () => readConfiguration(variables);
      expect(attempt).toThrow(ConfigurationError);
      expect(attempt).not.toThrow(/hunter2/);
    }
  });
});
