import { expect, test } from '@jest/globals';
import type { ShownOperation } from '../../../application/audit/show-operation.ts';
import { printShown } from '../../../infrastructure/presenting/shown-operation.ts';

const REQUEST = { applicationId: 'a', code: 'OP-1' };
const installment = { code: 'I1', dueDate: '2026-01-15', faceValue: 100, status: 'open', credits: [] };
const state = { status: 'active', fundId: 'f', pricing: {}, documents: [], installments: [installment] };
const SHOWN = {
  ...{ stream: 'loan-a-OP-1', brokenAt: undefined, payoff: [] },
  state: { ...state, schedule: [], acquisitionValue: 1, disbursedValue: 1, receivedValue: 0 },
  events: [
    {
      recorded: { revision: 0n, type: 'loan.received.v1', id: 'e', metadata: { actor: 'x' } },
      ...{ businessDate: '2026-01-15', leftOut: undefined, price: undefined },
      payload: { documents: [], remark: 'none' },
    },
  ],
} as unknown as ShownOperation;

const printed = async (format: 'table' | 'json'): Promise<string> => {
  let text = '';
  for await (const piece of printShown(SHOWN, REQUEST, { format, colour: false })) text += piece;
  return text;
};

test('an empty list is empty in the text, and a list in JSON', async () => {
  const text = await printed('table');
  expect(text).toContain('installment I1  2026-01-15  1.00  open\n');
  expect(text).toContain('      documents:\n      remark: none\n');
  expect(text).not.toContain('[]');
  expect(JSON.parse(await printed('json')).events[0].data.documents).toEqual([]);
});
