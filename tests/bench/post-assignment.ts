import { setTimeout } from 'node:timers/promises';
import type { ApiClient } from '../support/api-client.ts';
import { settlement } from '../support/api-client.ts';
import { load, row } from './load.ts';
import type { Load, Request } from './load.ts';

interface Bench {
  readonly baseUrl: string;
  readonly api: ApiClient;
  readonly authorization: string;
  /** The request that assigns an operation of so many installments. */
  readonly assignment: (code: string, installments: number) => Request;
}

const SETTLED_DOWN_MS = 3_000;
const DATE = '2026-06-20';

/** One request after another: what a request costs, not how many pass at once. */
const oneByOne = ({ baseUrl }: Bench, requests: readonly Request[]): Promise<Load> => {
  const queue = requests.values();
  return load(baseUrl, () => queue.next().value, { connections: 1, seconds: 600, status: 200 });
};

const activeLoans = async (
  bench: Bench,
  count: number,
  installments: number,
  prefix = 'PA',
): Promise<readonly string[]> => {
  const codes = Array.from({ length: count }, (_, i) => `${prefix}-${installments}-${i}`);
  const queue = codes.map((code) => bench.assignment(code, installments)).values();
  await load(bench.baseUrl, () => queue.next().value, { connections: 8, seconds: 600, status: 201 });
  for (const code of codes) await bench.api.untilStatus(code, 'active', 120_000);
  // Past due dates are marked within two seconds; after that only what is measured happens.
  await setTimeout(SETTLED_DOWN_MS);
  return codes;
};

/** One original, a new operation of as many installments, documents taken over. */
const renegotiation = ({ authorization }: Bench, code: string, installments: number): Request => ({
  method: 'PATCH',
  path: '/loan/renegotiate',
  headers: { authorization, 'content-type': 'application/json' },
  body: JSON.stringify({
    original_proposal_code: code,
    effective_date: DATE,
    new_proposal: {
      originator_proposal_code: `${code}-new`,
      number_of_installments: installments,
      acquisition_value: 800 * installments,
      installments: Array.from({ length: installments }, (_, i) => ({
        code: String(i),
        due_date: new Date(Date.UTC(2026, 7 + i, 20)).toISOString().slice(0, 10),
        face_value: 950,
      })),
    },
  }),
});

/** Settlement, prepayment and repurchase of the same operations, one request after another; then renegotiations of others. */
export const measurePostAssignment = async (bench: Bench): Promise<void> => {
  const post = (path: string, body: object): Request => ({
    path,
    headers: { authorization: bench.authorization, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const prepayment = (code: string): Request =>
    post('/installment/prepayment', {
      originator_proposal_code: code,
      prepayment_value: 2_000,
      prepayment_date: DATE,
      payment_method: 'pix',
      idempotency_key: `${code}-prepayment`,
    });
  const repurchase = (code: string): Request =>
    post('/loan/repurchase', {
      originator_proposal_code: code,
      reason: 'repurchase',
      effective_date: DATE,
      idempotency_key: `${code}-repurchase`,
    });
  for (const [count, installments] of [
    [400, 12],
    [100, 480],
  ] as const) {
    const codes = await activeLoans(bench, count, installments);
    const settlements = codes.map((code) => post('/installment/settle', settlement(code, '001', 950)));
    const name = (path: string): string => `${path}, ${installments}`;
    console.log(row(name('POST /installment/settle'), await oneByOne(bench, settlements)));
    console.log(row(name('POST /installment/prepayment'), await oneByOne(bench, codes.map(prepayment))));
    console.log(row(name('POST /loan/repurchase'), await oneByOne(bench, codes.map(repurchase))));
    const originals = await activeLoans(bench, count / 4, installments, 'PR');
    const renegotiations = originals.map((code) => renegotiation(bench, code, installments));
    console.log(row(name('PATCH /loan/renegotiate'), await oneByOne(bench, renegotiations)));
  }
};
