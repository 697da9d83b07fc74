import { afterAll, describe, expect, test } from '@jest/globals';
import type { AskedSettlement } from '../../../../application/loans/payments.ts';
import { cents } from '../../../../domain/shared/money.ts';
import type { RequestContext } from '../../../../application/command-handling/request-context.ts';
import { FUND } from '../../../support/http-fakes.ts';
import { validSettlement, withField } from '../../../support/http-requests.ts';
import { HttpWorld } from '../../../support/http-world.ts';

let seen: { context: RequestContext; input: AskedSettlement } | undefined;
let replayed = false;

const world = await HttpWorld.start();
const accept = world.behaviour.loans.settle;
world.behaviour.loans.settle = async (context, input) => {
  seen = { context, input };
  return { ...(await accept(context, input)), replayed };
};
afterAll(() => world.stop());

const settle = (json: unknown) => world.call('POST', '/installment/settle', { json });

describe('POST /installment/settle', () => {
  test('takes its key from the body, whatever a header says', async () => {
    const headers = { 'Idempotency-Key': 'another' };
    const { status } = await world.call('POST', '/installment/settle', { json: validSettlement(), headers });
    expect([status, seen?.input.idempotencyKey]).toEqual([200, validSettlement().idempotency_key]);
  });

  test.each(['"\\ud800"', '"\\u0000"', '"text"', '5'])('%s is told that it is no object', async (body) => {
    const headers = { 'content-type': 'application/json' };
    const answer = await world.call('POST', '/installment/settle', { body, headers });
    expect(answer.body.details).toEqual([
      { field: 'body', code: 'invalid_type', message: 'must be an object' },
    ]);
  });

  test('hands cents and the caller to the use case and prints both decimals', async () => {
    const { status, text, headers } = await settle({
      ...validSettlement(),
      settled_value: 900.5,
      note: 'ignored',
    });
    expect(status).toBe(200);
    expect(text).toContain('"settled_value":900.50');
    expect(headers.get('idempotent-replayed')).toBeNull();
    expect(seen).toEqual({
      context: {
        requestId: headers.get('x-request-id'),
        clientId: 'client-a',
        strict: false,
        applicationId: 'app-a',
        fundIds: [FUND],
      },
      input: {
        code: 'OP-1',
        installmentCode: '001',
        settledAt: '2026-02-15',
        settledValue: 90_050,
        paymentMethod: 'pix',
        idempotencyKey: 'OP-1-001',
      },
    });
  });

  test.each([
    [cents(0), cents(0), '"difference":0.00,"surplus":0.00'],
    [cents(4_950), cents(0), '"difference":49.50,"surplus":0.00'],
    [cents(0), cents(10), '"difference":0.00,"surplus":0.10'],
  ])('says what was missing and what was too much, always both', async (difference, surplus, printed) => {
    const before = world.behaviour.loans.settle;
    world.behaviour.loans.settle = async (context, input) => {
      const { replayed: again, result } = await before(context, input);
      return { replayed: again, result: { ...result, difference, surplus } };
    };
    expect((await settle(validSettlement())).text).toContain(printed);
    world.behaviour.loans.settle = before;
  });

  test('a replay keeps its status and says so', async () => {
    replayed = true;
    const { status, headers } = await settle(validSettlement());
    expect([status, headers.get('idempotent-replayed')]).toEqual([200, 'true']);
    replayed = false;
  });

  test.each([
    ['originator_proposal_code', 'a/b', 'invalid_format'],
    ['installment_code', '', 'invalid_format'],
    ['settled_at', '2026-02-30', 'invalid_date'],
    ['settled_at', null, 'invalid_date'],
    ['settled_value', '950.00', 'invalid_amount'],
    ['settled_value', 950.005, 'invalid_amount'],
    ['settled_value', 0, 'invalid_amount'],
    ['payment_method', 'cash', 'invalid_value'],
    ['idempotency_key', 'x'.repeat(256), 'invalid_format'],
    ['idempotency_key', 'tab\t', 'invalid_format'],
    ['idempotency_key', undefined, 'required'],
  ])('%s = %j: %s', async (field, value, code) => {
    const { status, body } = await settle(withField(validSettlement(), field, value));
    expect([status, body.details]).toEqual([400, [{ field, code, message: expect.any(String) }]]);
  });

  test.each(['direct_debit', 'boleto', 'pix', 'transfer', 'other'])(
    'payment method %s is known',
    async (method) => {
      expect((await settle({ ...validSettlement(), payment_method: method })).status).toBe(200);
    },
  );

  test.each(['[]', '"x"', 'null', '1'])('a body %s is refused', async (body) => {
    const answer = await world.call('POST', '/installment/settle', {
      body,
      headers: { 'content-type': 'application/json' },
    });
    expect([answer.status, answer.body.error_code]).toEqual([400, 'validation_error']);
  });
});
