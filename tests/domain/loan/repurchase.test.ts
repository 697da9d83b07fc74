import { describe, expect, test } from '@jest/globals';
import { loanDecider } from '../../../domain/loan/index.ts';
import type { LoanEvent, RepurchaseRequested } from '../../../domain/loan/index.ts';
import { stateAfter } from '../../../domain/shared/decider.ts';
import { specFor } from '../../support/decider-spec.ts';
import { centsOf, vectors } from '../support/finance-vectors.ts';
import {
  NOW,
  activated,
  completeRepurchase,
  disbursed,
  disbursedLongAgo,
  installmentCode,
  paid,
  received,
  repurchaseCompleted,
  repurchaseRequested,
  requestRepurchase,
} from '../support/loan-story.ts';

const loan = specFor(loanDecider);
const fivePaid = ['001', '002', '003', '004', '005'].map((code) => paid(code));
const started = [...activated, ...fivePaid];
const lines = vectors.present_value[0]?.present_values[2];

const requested = (
  reason: RepurchaseRequested['reason'],
  value: string,
  changes: Partial<RepurchaseRequested> = {},
): LoanEvent => ({
  ...repurchaseRequested(reason),
  repurchaseValue: centsOf(value),
  calculatedValue: centsOf(value),
  calculatedAt: NOW,
  ...changes,
});
const curveLines = {
  lines: (lines?.open ?? []).map((code, i) => ({
    installmentCode: installmentCode(code),
    presentValue: centsOf(lines?.lines[i] ?? 'none'),
  })),
};

describe('requesting a repurchase of L1 after five payments', () => {
  test.each(['repurchase', 'integrated_repurchase'] as const)(
    '%s asks for the rest of the curve',
    (reason) => {
      loan
        .given(...started)
        .when(requestRepurchase(reason))
        .then(requested(reason, '6147.33', curveLines));
    },
  );

  test('cession_reversal asks for the price and shows the payments that it met', () => {
    loan
      .given(...started)
      .when(requestRepurchase('cession_reversal'))
      .then(requested('cession_reversal', '10000.00', { receivedValue: centsOf('4750.00') }));
  });

  test.each(vectors.resolution_on_L1)(
    'resolution after $received asks for $repurchase_value, the price less the payments',
    ({ received: amounts, repurchase_value: value }) => {
      const payments = amounts.map((amount, i) => paid(String(i + 1).padStart(3, '0'), amount));
      const state = stateAfter(loanDecider, [...activated, ...payments]);
      const [event] = loanDecider.decide(requestRepurchase('resolution'), state);
      expect(event).toMatchObject({
        calculatedValue: centsOf(value),
        repurchaseValue: centsOf(value),
        lines: [],
      });
    },
  );

  describe.each([
    ['by the disbursed value', disbursed, '990.00', '690.00'],
    ['by the acquisition value where the disbursement names no rule', disbursedLongAgo, '1000.00', '700.00'],
  ] as const)('goes %s', (_label, disbursement, reversal, resolution) => {
    const terms = { ...received, acquisitionValue: centsOf('1000.00') };
    const partlyPaid = [
      ...[terms, ...activated.slice(1, 3), { ...disbursement, disbursedValue: centsOf('990.00') }],
      paid('001', '300.00'),
    ];
    test.each([
      ['cession_reversal', reversal],
      ['resolution', resolution],
    ] as const)('for a %s: %s', (reason, value) => {
      const [event] = loanDecider.decide(requestRepurchase(reason), stateAfter(loanDecider, partlyPaid));
      expect(event).toMatchObject({ calculatedValue: centsOf(value), repurchaseValue: centsOf(value) });
    });
  });

  test('a value that the integrator states counts, and the calculated one stays beside it', () => {
    loan
      .given(...started)
      .when({
        ...requestRepurchase('resolution'),
        repurchaseValue: centsOf('5000.00'),
        reasonDetail: 'agreed',
      })
      .then(
        requested('resolution', '5250.00', {
          repurchaseValue: centsOf('5000.00'),
          valueSource: 'informed',
          reasonDetail: 'agreed',
        }),
      );
  });

  test.each([
    ['before the issue', requestRepurchase('repurchase', '2026-01-14'), 'invalid_date', /effective_date/],
    [
      'for no money',
      { ...requestRepurchase('repurchase'), repurchaseValue: centsOf('0.00') },
      'validation_error',
      /repurchase_value/,
    ],
  ] as const)('is refused %s', (_label, command, code, message) => {
    loan
      .given(...started)
      .when(command)
      .thenRefused(code, message);
  });

  test('is refused while another one is pending', () => {
    loan
      .given(...started, repurchaseRequested('repurchase'))
      .when(requestRepurchase('resolution'))
      .thenRefused('operation_invalid_state', /is repurchase_pending/);
  });

  test('where the curve has outgrown every amount, needs the value stated', () => {
    const overnight = [
      { ...received, pricing: { ...received.pricing, dailyFactor: '0.5' } },
      ...activated.slice(1),
    ];
    const command = requestRepurchase('repurchase');
    loan
      .given(...overnight)
      .when(command)
      .thenRefused('invalid_date', /state the repurchase_value/);
    const [event] = loanDecider.decide(
      { ...command, repurchaseValue: centsOf('5000.00') },
      stateAfter(loanDecider, overnight),
    );
    expect(event).toMatchObject({ repurchaseValue: centsOf('5000.00'), valueSource: 'informed' });
  });
});

describe('completing a repurchase', () => {
  test.each([
    ['repurchase', 'repurchased'],
    ['integrated_repurchase', 'repurchased'],
    ['cession_reversal', 'reversed'],
    ['resolution', 'resolved'],
  ] as const)('for the reason %s ends in %s', (reason, status) => {
    const before = [...started, repurchaseRequested(reason)];
    loan
      .given(...before)
      .when(completeRepurchase)
      .then(repurchaseCompleted(reason, status));
    expect(stateAfter(loanDecider, [...before, repurchaseCompleted(reason, status)]).status).toBe(status);
  });

  test('a second time changes nothing', () => {
    loan
      .given(...started, repurchaseRequested('repurchase'), repurchaseCompleted('repurchase', 'repurchased'))
      .when(completeRepurchase)
      .thenNothing();
  });

  test('that nobody requested is refused', () => {
    loan
      .given(...started)
      .when(completeRepurchase)
      .thenRefused('operation_invalid_state', /is active/);
  });

  test('leaves the installments as they were', () => {
    const before = stateAfter(loanDecider, started);
    const after = stateAfter(loanDecider, [
      ...started,
      repurchaseRequested('repurchase'),
      repurchaseCompleted('repurchase', 'repurchased'),
      paid('006'),
    ]);
    expect('changed' in after && after.changed).toEqual('changed' in before && before.changed);
  });
});
