import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { ServiceProcess } from '../support/service-process.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

let dataDir: string;
beforeEach(() => {
  dataDir = temporaryDirectory();
});
const masterKey = (): string => randomBytes(32).toString('base64');

describe('the service as a process', () => {
  test.each([
    ['MASTER_KEY', { ENVIRONMENT: 'production' }],
    ['PUBLIC_URL', { ENVIRONMENT: 'production', MASTER_KEY: masterKey(), PUBLIC_URL: '' }],
    ['SANDBOX_STEP', { SANDBOX_STEP: 'soon' }],
    ['DATA_DIR', { DATA_DIR: fileURLToPath(import.meta.url) }],
    ['KAFKA_BROKERS', { KAFKA_BROKERS: 'localhost' }],
    ['ROLES', { ROLES: 'webhooks', DATABASE_URL: 'postgres://127.0.0.1/none' }],
    [
      'WEBHOOK_ALLOW_PRIVATE_NETWORK',
      { ENVIRONMENT: 'production', MASTER_KEY: masterKey(), WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true' },
    ],
    ['ROLES', { ROLES: 'api,projector,relay' }],
  ])(
    'a start that cannot work says why in one line: %s',
    async (variable, environment) => {
      const failure = await ServiceProcess.start(dataDir, environment).then(
        () => 'it started',
        (error: Error) => error.message,
      );
      const lines = failure.trim().split('\n');
      expect(lines).toHaveLength(1);
      expect(lines[0]).toMatch(new RegExp(`^the service ended with 1: ${variable}\\b`));
    },
    300_000,
  );
});
