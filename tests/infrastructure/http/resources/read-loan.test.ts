import { afterAll, describe, expect, test } from '@jest/globals';
import type { LoanDetails } from '../../../../application/loans/loan-details.ts';
import type { LoansQuery } from '../../../../application/loans/read-loan.ts';
import { FUND, loanDetails, NOW } from '../../../support/http-fakes.ts';
import { HttpWorld } from '../../../support/http-world.ts';

const world = await HttpWorld.start();
afterAll(() => world.stop());

describe('GET /loan/{originator_proposal_code}', () => {
  test('decodes the code and prints amounts with both decimals', async () => {
    let asked = '';
    world.behaviour.loans.read = async (_context, code) => {
      asked = code;
      return loanDetails;
    };
    const { text } = await world.call('GET', '/loan/a%3Ab%2Bc');
    expect(asked).toBe('a:b+c');
    expect(text).toContain('"acquisition_value":1800.00');
    expect(text).toContain('"received_value":0.00');
    expect(text).toContain('"payoff_value":940.10');
  });

  test('has no payoff value where it is beyond what an amount can be', async () => {
    world.behaviour.loans.read = async () => ({
      ...loanDetails,
      balances: { ...loanDetails.balances, payoffValue: null },
    });
    const { body } = await world.call('GET', '/loan/OP-1');
    expect(body.balances.payoff_value).toBeNull();
  });

  test('shows what became of the operation', async () => {
    const full = {
      ...loanDetails,
      status: 'repurchased',
      borrower: null,
      installments: [
        {
          ...loanDetails.installments[0],
          status: 'settled',
          settledAt: '2026-02-15',
          settledValue: 95_000,
          paymentMethod: 'pix',
          outstandingValue: 0,
        },
      ],
      disbursement: { value: 180_000, date: '2026-01-16' },
      prepayments: [
        { value: 50_000, date: '2026-02-10', settledInstallments: ['001'], excessValue: 0 },
        { value: 10_000, date: '2026-02-11', settledInstallments: [], excessValue: 150 },
      ],
      repurchase: {
        reason: 'repurchase',
        reasonDetail: null,
        effectiveDate: '2026-06-20',
        repurchaseValue: 614_733,
        calculatedValue: 614_800,
        calculatedAt: NOW,
        completedAt: null,
      },
      renegotiation: {
        role: 'new',
        originalProposalCodes: ['OP-0'],
        newProposalCode: 'OP-1',
        effectiveDate: '2026-06-20',
        completedAt: NOW,
      },
      rejectionReasons: [{ code: 'underage', message: 'm' }],
    } as unknown as LoanDetails;
    world.behaviour.loans.read = async () => full;
    const { body, text } = await world.call('GET', '/loan/OP-1');
    expect(body).toMatchObject({
      borrower: null,
      disbursement: { value: 1800, date: '2026-01-16' },
      prepayments: [
        { value: 500, date: '2026-02-10', settled_installments: ['001'], excess_value: 0 },
        { value: 100, date: '2026-02-11', settled_installments: [], excess_value: 1.5 },
      ],
      repurchase: {
        reason: 'repurchase',
        reason_detail: null,
        effective_date: '2026-06-20',
        calculated_at: NOW,
        completed_at: null,
      },
      renegotiation: {
        role: 'new',
        original_proposal_codes: ['OP-0'],
        new_proposal_code: 'OP-1',
        completed_at: NOW,
      },
      rejection_reasons: [{ code: 'underage', message: 'm' }],
      installments: [{ settled_at: '2026-02-15', payment_method: 'pix' }],
    });
    expect(text).toContain('"repurchase_value":6147.33,"calculated_value":6148.00');
    expect(text).toContain('"excess_value":1.50');
    expect(text).toContain('"settled_value":950.00');
  });

  test('an operation whose code is a fixed segment is reached by encoding a letter', async () => {
    expect((await world.call('GET', '/loan/%66iles')).status).toBe(200);
  });
});

describe('GET /loan', () => {
  test('passes the filters on', async () => {
    let asked: LoansQuery | undefined;
    world.behaviour.loans.list = async (_context, input) => {
      asked = input;
      return { loans: [], nextCursor: 'next' };
    };
    const { body } = await world.call(
      'GET',
      `/loan?status=active,settled&overdue=true&fund_id=${FUND.toUpperCase()}&updated_since=2026-01-15T12:00:00-03:00&limit=200&cursor=c`,
    );
    expect([body, asked]).toEqual([
      { data: [], next_cursor: 'next' },
      {
        ...{ status: ['active', 'settled'], fundId: FUND, overdue: true },
        updatedSince: '2026-01-15T12:00:00-03:00',
        ...{ limit: 200, cursor: 'c' },
      },
    ]);
    await world.call('GET', '/loan');
    expect(asked).toEqual({ limit: 50 });
    for (const query of ['status=active', 'status=active,active', 'status=active&status=active']) {
      await world.call('GET', `/loan?${query}`);
      expect(asked).toEqual({ limit: 50, status: ['active'] });
    }
  });

  test.each([
    ['status=none', /^status "none": must be one of received, /],
    ['status=active,nome,,Settled', /^status "nome", "", "Settled": must be one of received, /],
    ['status=', /^status "": must be one of/],
    [`status=${'x,'.repeat(3_000)}`, /^status "x", "": must be one of/],
    ['overdue=false', /^overdue must be true; without it, /],
    ['overdue=', /must be true/],
    ['overdue=true&overdue=true', /once/],
    ['fund_id=x', /UUID/],
    ['limit=-1', /1 to 200/],
    ['limit=99999999999', /1 to 200/],
    ['updated_since=yesterday', /RFC 3339, such as 2026-01-15T12:00:00Z/],
    ['updated_since=2026-01-15', /RFC 3339/],
    ['updated_since=2026-02-30T00:00:00Z', /RFC 3339/],
    ['updated_since=2026-06-30T23:59:60Z', /^updated_since must be a date-time of RFC 3339/],
    ['updated_since=2026-01-15T12:00:00+03:00', /write \+ as %2B/],
    ['updated_since=2026-01-15T12:00:00Z&updated_since=2026-01-16T12:00:00Z', /once/],
    ['update_since=2026-01-15T12:00:00Z', /the nearest one is updated_since/],
    [
      'foo=1',
      /^foo is not a parameter here; there are status, fund_id, overdue, updated_since, limit, cursor$/,
    ],
  ])('%s is refused', async (query, message) => {
    const { status, body } = await world.call('GET', `/loan?${query}`);
    expect([status, body.error_code, body.details.length]).toEqual([400, 'invalid_query_parameter', 1]);
    expect(body.message).toMatch(message);
    expect(body.details[0].field).toBe(query.split('=')[0]);
  });
});
