import { describe, expect, test } from '@jest/globals';
import { createLogger } from '../../../infrastructure/observability/logging.ts';

const logging = (level: 'error' | 'warn' | 'info' | 'debug' = 'info') => {
  const lines: string[] = [];
  const logger = createLogger(level, { write: (line: string) => void lines.push(line) });
  return { logger, lines, entries: () => lines.map((line) => JSON.parse(line)) };
};

describe('log', () => {
  test('is one JSON object a line, with time, level and message', () => {
    const { logger, lines, entries } = logging();
    logger.info({ stream: 'loan-app.P-1', revision: 3n, nested: { list: [1, { a: true }] } }, 'line\nbreak');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^\{.*\}\n$/);
    expect(entries()).toEqual([
      {
        level: 'info',
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        stream: 'loan-app.P-1',
        revision: '3',
        nested: { list: [1, { a: true }] },
        message: 'line\nbreak',
      },
    ]);
  });

  test.each([
    ['error', ['error']],
    ['warn', ['error', 'warn']],
    ['info', ['error', 'warn', 'info']],
    ['debug', ['error', 'warn', 'info', 'debug']],
  ] as const)('LOG_LEVEL %s lets through %j', (level, expected) => {
    const { logger, entries } = logging(level);
    for (const each of ['error', 'warn', 'info', 'debug'] as const) logger[each]({}, each);
    expect(entries().map(({ level: written }) => written)).toEqual(expected);
  });

  test('never holds a secret or personal data, at any depth and in any spelling', () => {
    const { logger, lines } = logging();
    const secret = 'hunter2';
    logger.info(
      {
        headers: { Authorization: `Bearer ${secret}`, cookie: secret },
        body: [
          { client_secret: secret, clientSecret: secret, signing_secret: secret, signingSecret: secret },
        ],
        configuration: { MASTER_KEY: secret, masterKey: secret, deep: { access_token: secret } },
        borrower: { name: secret },
        document_number: secret,
        birth_date: secret,
        key: Buffer.from(secret),
        very: { very: { very: { very: { very: { very: { very: { deep: secret } } } } } } },
      },
      'request',
    );
    expect(lines[0]).not.toContain(secret);
    expect(lines[0]).not.toContain(Buffer.from(secret).toString('base64'));
    expect(lines[0]).toContain('"client_secret":"[redacted]"');
  });

  test('an error keeps its stack and its cause, not the secrets on it', () => {
    const { logger, entries } = logging();
    const cause = Object.assign(new Error('connection lost'), { code: 'ECONNRESET', password: 'hunter2' });
    logger.error({ err: new TypeError('append failed', { cause }) }, 'failed');
    expect(entries()[0].err).toMatchObject({
      type: 'TypeError',
      message: 'append failed',
      stack: expect.stringContaining('logging.test.ts'),
      cause: { message: 'connection lost', code: 'ECONNRESET', password: '[redacted]' },
    });
  });

  test('an error over several says what each of them was', () => {
    const { logger, entries } = logging();
    const errors = ['connect ECONNREFUSED ::1:1', 'connect ECONNREFUSED 127.0.0.1:1'].map(
      (text) => new Error(text),
    );
    logger.error({ err: new AggregateError(errors) }, 'away');
    expect(entries()[0].err.errors).toMatchObject(errors.map(({ message }) => ({ message })));
  });

  test('a loop in what is logged does not stop the service', () => {
    const { logger, lines } = logging();
    const loop: Record<string, unknown> = {};
    loop.self = loop;
    logger.info({ loop }, 'loop');
    expect(lines).toHaveLength(1);
  });
});
