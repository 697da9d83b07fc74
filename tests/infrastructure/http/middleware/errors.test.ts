import { afterAll, describe, expect, test } from '@jest/globals';
import { UnreadableEventError } from '../../../../application/event-codec/fields.ts';
import { BusyError } from '../../../../application/ports/busy-error.ts';
import {
  ConcurrencyError,
  OutcomeUnknownError,
  StoreUnavailableError,
} from '../../../../application/ports/event-store.ts';
import { OperationQuarantinedError, ReadModelBehindError } from '../../../../application/loans/read-loan.ts';
import { DomainError } from '../../../../domain/shared/domain-error.ts';
import type { DomainErrorCode } from '../../../../domain/shared/domain-error.ts';
import type { Logger } from '../../../../application/ports/logger.ts';
import { ERRORS } from '../../../../infrastructure/http/errors/error-table.ts';
import { RATE_ROWS } from '../../../../infrastructure/http/limits/rate-limiter.ts';
import { loanForm, validLoanData, validSettlement } from '../../../support/http-requests.ts';
import { HttpWorld } from '../../../support/http-world.ts';

const world = await HttpWorld.start();
afterAll(() => world.stop());

const settleFailingWith = async (error: unknown) => {
  world.behaviour.loans.settle = async () => {
    throw error;
  };
  return world.call('POST', '/installment/settle', { json: validSettlement() });
};

describe('what a use case raises', () => {
  const refusals: readonly (readonly [DomainErrorCode, number])[] = [
    ['installment_not_found', 400],
    ['invalid_date', 400],
    ['loan_not_found', 404],
    ['idempotency_conflict', 409],
    ['installment_already_closed', 409],
    ['operation_invalid_state', 422],
  ];
  test.each(refusals)('%s becomes %i with its message', async (code, status) => {
    const { body, ...answer } = await settleFailingWith(new DomainError(code, 'the reason'));
    expect([answer.status, body.error_code, body.message, body.retryable]).toEqual([
      status,
      code,
      'the reason',
      false,
    ]);
  });

  test('details are passed on', async () => {
    const details = [{ field: 'settled_at', code: 'invalid_date', message: 'is before date_issued' }];
    expect((await settleFailingWith(new DomainError('invalid_date', 'm', details))).body.details).toEqual(
      details,
    );
  });

  test('a lost race may be repeated', async () => {
    const { status, body } = await settleFailingWith(new ConcurrencyError('loan-1', 1n, 2n));
    expect([status, body.error_code, body.retryable]).toEqual([409, 'concurrent_modification', true]);
    expect(JSON.stringify(body)).not.toContain('loan-1');
  });

  test.each([
    [new StoreUnavailableError('sqlite: disk I/O error'), '5'],
    [new OutcomeUnknownError('timeout'), '1'],
    [new ReadModelBehindError('behind'), '1'],
    [new OperationQuarantinedError(), '60'],
    [new UnreadableEventError('installment_settled: field settled_value should be an amount'), '60'],
    [new BusyError('too long behind others'), '1'],
  ])('%s becomes 503', async (error, retryAfter) => {
    const { status, body, headers, text } = await settleFailingWith(error);
    expect([status, body.error_code, body.retryable, headers.get('retry-after')]).toEqual([
      503,
      'service_unavailable',
      true,
      retryAfter,
    ]);
    expect(text).not.toContain(error.message);
  });

  const lacking = (code: string): Error => Object.assign(new Error(`${code}: /data/documents`), { code });
  const MACHINE = [
    ...['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE', 'EIO', 'EROFS', 'ENOMEM'],
    ...['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM'],
  ];
  test.each([
    ...MACHINE.map((code) => [code, lacking(code)] as const),
    ['ENOSPC', new Error('not written', { cause: lacking('ENOSPC') })] as const,
  ])('%s of the machine becomes 503, and one line in the log however often it comes', async (code, error) => {
    world.logger.lines.length = 0;
    for (let sent = 0; sent < 20; sent++) {
      const { status, body, headers, text } = await settleFailingWith(error);
      expect([status, body.error_code, body.retryable]).toEqual([503, 'service_unavailable', true]);
      expect(headers.get('retry-after')).toBe('5');
      expect(text).not.toContain('/data');
    }
    expect(world.logger.lines.length).toBeLessThanOrEqual(1);
    for (const { level, fields } of world.logger.lines) {
      expect([level, fields]).toMatchObject(['warn', { cause: code, count: 1 }]);
      expect(JSON.stringify(fields)).not.toContain('stack');
    }
  });

  test.each([new Error('secret detail'), new TypeError('x is not a function'), 'a string', undefined])(
    'anything else becomes 500, logged under the request id and told to nobody: %s',
    async (error) => {
      world.logger.lines.length = 0;
      const { status, body, text } = await settleFailingWith(error);
      expect([status, body.error_code]).toEqual([500, 'internal_error']);
      expect(text).not.toContain('secret');
      expect(text).not.toContain('at ');
      const [line] = world.logger.lines;
      expect(line).toMatchObject({
        level: 'error',
        fields: { request_id: body.request_id, operation: 'settleInstallment' },
      });
    },
  );

  test('an unreachable registry is not an invalid token', async () => {
    const resolve = world.clients.resolve.bind(world.clients);
    world.clients.resolve = async () => Promise.reject(new StoreUnavailableError('down'));
    const { status } = await world.call('GET', '/loan/x');
    world.clients.resolve = resolve;
    expect(status).toBe(503);
  });
});

describe('refusals of other routes', () => {
  test('an unknown operation, and a code that none can have', async () => {
    world.behaviour.loans.read = async () => undefined;
    for (const path of ['/loan/OP-9', '/loan/a%2Fb', '/loan/%C4%80', `/loan/${'x'.repeat(101)}`]) {
      const { status, body } = await world.call('GET', path);
      expect([status, body.error_code]).toEqual([404, 'loan_not_found']);
    }
  });

  test('another fund', async () => {
    world.behaviour.loans.assign = async () =>
      Promise.reject(new DomainError('fund_not_allowed', 'not linked'));
    expect((await world.call('POST', '/loan', { body: loanForm(validLoanData()) })).status).toBe(403);
  });

  test('a service that is not ready', async () => {
    world.readiness = { ready: false, checks: { event_store: 'ok', read_model: 'failing' } };
    const { status, body, headers } = await world.call('GET', '/health/ready', { auth: false });
    expect([status, body.message, headers.get('retry-after')]).toEqual([
      503,
      'not ready: event_store: ok; read_model: failing',
      '1',
    ]);
    expect((await world.call('GET', '/health/live', { auth: false })).status).toBe(200);
  });
});

test('every code has one HTTP number of the published classes', () => {
  for (const { status } of Object.values(ERRORS)) {
    expect([400, 401, 403, 404, 405, 406, 408, 409, 413, 415, 422, 429, 500, 503]).toContain(status);
  }
});

test.each([
  { what: 'what the headers show to be wrong', method: 'POST', path: '/loan', status: 415, row: 'loan' },
  { what: 'a path that is none', method: 'POST', path: '/no-such-path', status: 404, row: 'read' },
  { what: 'a path that cannot be read', method: 'GET', path: '/loan/%', status: 400, row: 'read' },
] as const)(
  '$what is no line of the log any more once the bucket of its sender is empty',
  async ({ method, path, status, row }) => {
    const refused: object[] = [];
    const logger = world.logger as Logger;
    logger.info = (fields) => refused.push(fields);
    world.now += 1_000;
    const headers = { 'content-type': 'text/plain' };
    const send = () => world.call(method, path, { auth: false, headers, described: false });
    const left = Number((await send()).headers.get('x-ratelimit-remaining'));
    world.limiter.take('address', `127.0.0.1 ${row}`, RATE_ROWS[row], left - 3);
    const statuses = new Set<number>();
    for (let sent = 0; sent < 8; sent += 1) statuses.add((await send()).status);
    expect([...statuses]).toEqual([status]);
    expect(refused).toHaveLength(1 + 3);
  },
);
