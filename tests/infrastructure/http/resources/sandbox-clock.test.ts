import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { AskedAssignment } from '../../../../application/loans/assign-loan.ts';
import type { AskedRenegotiation } from '../../../../application/renegotiation/request.ts';
import type { ClockMove } from '../../../../application/maintenance/sandbox/sandbox-clock.ts';
import { exampleLoanData } from '../../../../infrastructure/http/resources/assign-loan.ts';
import { exampleRenegotiation } from '../../../../infrastructure/http/resources/renegotiation-request.ts';
import { assignmentForm } from '../../../support/api-client.ts';
import { acceptingUseCases } from '../../../support/http-fakes.ts';
import { HttpWorld } from '../../../support/http-world.ts';
import type { HttpAnswer } from '../../../support/http-world.ts';

let world: HttpWorld;
let production: HttpWorld;

beforeAll(async () => {
  world = await HttpWorld.start();
  production = await HttpWorld.start({ settings: { environment: 'production' } });
});
beforeEach(() => void Object.assign(world.behaviour, acceptingUseCases()));
afterAll(async () => {
  await world.stop();
  await production.stop();
});

const form = (): FormData => assignmentForm(exampleLoanData);
const assignWith = (at: HttpWorld, headers: Record<string, string>): Promise<HttpAnswer> =>
  at.call('POST', '/loan', { body: form(), headers });
const assign = (at: HttpWorld, outcome?: string): Promise<HttpAnswer> =>
  assignWith(at, outcome === undefined ? {} : { 'X-Sandbox-Outcome': outcome });
const move = (json: unknown): Promise<HttpAnswer> => world.call('POST', '/sandbox/clock', { json });
const detailsOf = ({ status, body }: HttpAnswer) => [
  status,
  body.error_code,
  ...(body.details ?? []).map(({ field, code }: { field: string; code: string }) => `${field} ${code}`),
];

describe('the header X-Sandbox-Outcome', () => {
  test.each([undefined, 'reject', 'hold'])('%s of an assignment reaches the use case', async (outcome) => {
    let asked: AskedAssignment['sandboxOutcome'];
    const { assign: assignLoan } = world.behaviour.loans;
    world.behaviour.loans.assign = (context, input) => {
      asked = input.sandboxOutcome;
      return assignLoan(context, input);
    };
    expect((await assign(world, outcome)).status).toBe(201);
    expect(asked).toBe(outcome);
  });

  test.each(['approve', 'Reject', 'hold, hold', ' ', 'reject;'])('%j is refused', async (outcome) => {
    const answer = await assign(world, outcome);
    expect(detailsOf(answer)).toEqual([400, 'validation_error', 'X-Sandbox-Outcome invalid_value']);
    expect(answer.body.message).toContain('must be reject or hold');
  });

  test('a renegotiation can hold, and nothing else', async () => {
    let asked: AskedRenegotiation['sandboxOutcome'];
    const { renegotiate: renegotiateLoans } = world.behaviour.renegotiation;
    world.behaviour.renegotiation.renegotiate = (context, input) => {
      asked = input.sandboxOutcome;
      return renegotiateLoans(context, input);
    };
    const renegotiate = (outcome: string): Promise<HttpAnswer> =>
      world.call('PATCH', '/loan/renegotiate', {
        json: exampleRenegotiation,
        headers: { 'X-Sandbox-Outcome': outcome },
      });
    expect((await renegotiate('hold')).status).toBe(200);
    expect(asked).toBe('hold');
    expect(detailsOf(await renegotiate('reject'))).toEqual([
      ...[400, 'validation_error', 'X-Sandbox-Outcome invalid_value'],
    ]);
  });

  test('means nothing in production, whatever it says', async () => {
    let asked: AskedAssignment | undefined;
    const { assign: assignLoan } = production.behaviour.loans;
    production.behaviour.loans.assign = (context, input) => {
      asked = input;
      return assignLoan(context, input);
    };
    for (const [outcome, value] of [
      ['hold', '9900.00'],
      ['nonsense', 'nothing'],
    ] as const) {
      const headers = {
        'X-Sandbox-Outcome': outcome,
        'X-Sandbox-Disburse': value,
        'X-Sandbox-Strict': value,
      };
      expect((await assignWith(production, headers)).status).toBe(201);
      expect(asked).not.toHaveProperty('sandboxOutcome');
      expect(asked).not.toHaveProperty('sandboxDisbursement');
    }
  });
});

describe('the header X-Sandbox-Disburse', () => {
  test.each([
    ['9900.00', 990_000],
    ['0.01', 1],
    ['7.5', 750],
    ['999999999.99', 99_999_999_999],
  ])('%s reaches the use case as %i cents', async (value, cents) => {
    const asked: (number | undefined)[] = [];
    const { loans, renegotiation } = world.behaviour;
    const { assign: assignLoan } = loans;
    const { renegotiate: renegotiateLoans } = renegotiation;
    loans.assign = (context, input) => {
      asked.push(input.sandboxDisbursement);
      return assignLoan(context, input);
    };
    renegotiation.renegotiate = (context, input) => {
      asked.push(input.sandboxDisbursement);
      return renegotiateLoans(context, input);
    };
    const headers = { 'X-Sandbox-Disburse': value };
    expect((await assignWith(world, headers)).status).toBe(201);
    await world.call('PATCH', '/loan/renegotiate', { json: exampleRenegotiation, headers });
    expect(asked).toEqual([cents, cents]);
  });

  test.each(['0', '0.00', '-1', '1.001', '1,50', '1e3', ' ', '1000000000', '01.00', '.5', '5.', 'all', '٣'])(
    '%j is refused, and named',
    async (value) => {
      const answer = await assignWith(world, { 'X-Sandbox-Disburse': encodeURIComponent(value) });
      expect(detailsOf(answer)).toEqual([400, 'validation_error', 'X-Sandbox-Disburse invalid_amount']);
    },
  );

  test('is refused while an earlier release may still disburse, which would not see it', async () => {
    world.behaviour.administrator.disbursesAsAsked = async () => false;
    const answer = await assignWith(world, { 'X-Sandbox-Disburse': '9900.00' });
    expect(detailsOf(answer)).toEqual([400, 'validation_error', 'X-Sandbox-Disburse too_early']);
    expect((await assign(world)).status).toBe(201);
  });
});

describe('the header X-Sandbox-Strict', () => {
  test.each(['false', 'TRUE', '1', 'true, true', ''])('%j is refused', async (value) => {
    const answer = await assignWith(world, { 'X-Sandbox-Strict': value });
    expect(detailsOf(answer)).toEqual([400, 'validation_error', 'X-Sandbox-Strict invalid_value']);
  });

  test('asks for the checks of production, in its own request alone', async () => {
    const asked: (boolean | undefined)[] = [];
    const { assign: assignLoan } = world.behaviour.loans;
    world.behaviour.loans.assign = (context, input) => {
      asked.push(context.strict);
      return assignLoan(context, input);
    };
    await assignWith(world, { 'X-Sandbox-Strict': 'true' });
    await assign(world);
    expect(asked).toEqual([true, false]);
  });
});

describe('the clock', () => {
  test('is shown and moved', async () => {
    const moves: ClockMove[] = [];
    const { sandboxClock } = world.behaviour.maintenance;
    world.behaviour.maintenance.sandboxClock = {
      show: () => sandboxClock.show(),
      move: (asked) => {
        moves.push(asked);
        return sandboxClock.move(asked);
      },
    };
    const shown = await world.call('GET', '/sandbox/clock');
    expect([shown.status, shown.body.offset_seconds]).toEqual([200, 0]);
    expect((await move({ advance: '30d' })).body.offset_seconds).toBe(2_592_000);
    await move({ to: '2031-03-01T09:00:00.5-03:00', advance: null });
    expect(moves).toEqual([{ advanceMs: 2_592_000_000 }, { to: '2031-03-01T09:00:00.5-03:00' }]);
  });

  test.each<[string, unknown, string, ...string[]]>([
    ['nothing', {}, 'validation_error', 'body required'],
    ['only nulls', { advance: null, to: null }, 'validation_error', 'body required'],
    ['both', { advance: '1d', to: '2031-03-01T00:00:00Z' }, 'validation_error', 'body contradictory'],
    ['no unit', { advance: '30' }, 'validation_error', 'advance invalid_format'],
    ['a number', { advance: 30 }, 'validation_error', 'advance invalid_format'],
    ['a fraction', { advance: '1.5d' }, 'validation_error', 'advance invalid_format'],
    ['backward', { advance: '-1d' }, 'validation_error', 'advance invalid_format'],
    ['no zone', { to: '2031-03-01T00:00:00' }, 'validation_error', 'to invalid_format'],
    ['a day alone', { to: '2031-03-01' }, 'validation_error', 'to invalid_format'],
    ['no such day', { to: '2031-02-29T00:00:00Z' }, 'validation_error', 'to invalid_format'],
    ['seconds since 1970', { to: 1_900_000_000.5 }, 'validation_error', 'to invalid_format'],
    ['a leap second', { to: '2031-06-30T23:59:60Z' }, 'validation_error', 'to invalid_format'],
    ['a misspelt field', { advanced: '1d' }, 'unknown_field', 'advanced unknown_field', 'body required'],
    ['a list', [], 'validation_error', 'body invalid_type'],
  ])('%s is refused', async (_, json, code, ...details) => {
    expect(detailsOf(await move(json))).toEqual([400, code, ...details]);
  });

  test('another field is refused, and named', async () => {
    const answer = await move({ advance: '1d', application: 'all' });
    expect([answer.status, answer.body.error_code]).toEqual([400, 'validation_error']);
    expect(answer.body.details).toContainEqual(
      expect.objectContaining({ field: 'application', code: 'unknown' }),
    );
  });

  test('asks for the scope of settling', async () => {
    const scopes = Object.entries(
      (
        world.description.document as never as {
          paths: Record<string, Record<string, { security: unknown }>>;
        }
      ).paths['/sandbox/clock']!,
    ).map(([method, { security }]) => [method, security]);
    expect(scopes).toEqual([
      ['get', [{ oauth2: ['loans:write'] }, { bearer: ['loans:write'] }]],
      ['post', [{ oauth2: ['loans:write'] }, { bearer: ['loans:write'] }]],
    ]);
  });

  test('exists in production as little as its description', async () => {
    for (const method of ['GET', 'POST', 'OPTIONS', 'DELETE']) {
      for (const auth of [undefined, false] as const) {
        const answer = await production.call(method, '/sandbox/clock', {
          ...(auth === false && { auth }),
          described: false,
        });
        expect([answer.status, answer.body?.error_code]).toEqual([404, 'not_found']);
      }
    }
    for (const path of ['/openapi.json', '/openapi.yaml']) {
      const { text } = await production.call('GET', path, { auth: false });
      expect(text).not.toMatch(/sandbox.?clock|X-Sandbox|SandboxTime/i);
    }
  });
});
