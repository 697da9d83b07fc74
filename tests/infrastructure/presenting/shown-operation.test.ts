import { expect, test } from '@jest/globals';
import type { ShownOperation } from '../../../application/audit/show-operation.ts';
import type { FundNames } from '../../../domain/fund/names.ts';
import { printShown } from '../../../infrastructure/presenting/shown-operation.ts';

const REQUEST = { applicationId: 'a', code: 'OP-1' };
const installment = { code: 'I1', dueDate: '2026-01-15', faceValue: 100, status: 'open', credits: [] };
const state = { status: 'active', fundId: 'f', pricing: {}, documents: [], changed: [installment] };
const SHOWN = {
  ...{ stream: 'loan-a-OP-1', brokenAt: undefined, payoff: [] },
  state: { ...state, schedule: { codes: ['I1'] }, acquisitionValue: 1, disbursedValue: 1, receivedValue: 0 },
  events: [
    {
      recorded: { revision: 0n, type: 'loan.received.v1', id: 'e', metadata: { actor: 'x' } },
      ...{ businessDate: '2026-01-15', leftOut: undefined, price: undefined },
      payload: { documents: [], remark: 'none' },
    },
  ],
} as unknown as ShownOperation;

const printed = async (format: 'table' | 'json', names: FundNames = new Map()): Promise<string> => {
  let text = '';
  for await (const piece of printShown(SHOWN, REQUEST, { format, colour: false, names })) text += piece;
  return text;
};

test('an empty list is empty in the text, and a list in JSON', async () => {
  const text = await printed('table');
  expect(text).toContain('installment I1  2026-01-15  1.00  open\n');
  expect(text).toContain('      documents:\n      remark: none\n');
  expect(text).not.toContain('[]');
  expect(JSON.parse(await printed('json')).events[0].data.documents).toEqual([]);
});

test('the name of the fund stands beside its id, once any fund has one', async () => {
  expect(await printed('json')).not.toContain('fund_name');
  expect(await printed('json', new Map([['f', 'Aurora']]))).toContain('"fund_id":"f","fund_name":"Aurora",');
  expect(await printed('json', new Map([['g', 'Boreal']]))).toContain('"fund_id":"f","fund_name":null,');
  expect(await printed('table', new Map([['f', 'Aurora']]))).toContain('  fund_id: f\n  fund_name: Aurora\n');
});
