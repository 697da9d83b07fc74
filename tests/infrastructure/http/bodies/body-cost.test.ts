import { request } from 'node:http';
import { afterAll, describe, expect, test } from '@jest/globals';
import { MOST_VIOLATIONS } from '../../../../application/schemas/document-validators.ts';
import { tokenFor } from '../../../support/http-fakes.ts';
import { HttpWorld } from '../../../support/http-world.ts';
import { mainThreadCost, MOST_MS } from '../../../support/main-thread-cost.ts';

const world = await HttpWorld.start();
afterAll(() => world.stop());

interface Target {
  readonly method: string;
  readonly path: string;
  /** Most bytes that are read. */
  readonly limit: number;
  /** Name of the form's part, for forms. */
  readonly part?: string;
  /** Longest list of objects, and where it stands. */
  readonly list?: (entries: string) => string;
}

const KIB = 1_024;
const TARGETS: Readonly<Record<string, Target>> = {
  settle: { method: 'POST', path: '/installment/settle', limit: 8 * KIB },
  'settle batch': {
    method: 'POST',
    path: '/installment/settle/batch',
    limit: 512 * KIB,
    list: (entries) => `{"settlements":[${entries}]}`,
  },
  prepayment: { method: 'POST', path: '/installment/prepayment', limit: 8 * KIB },
  repurchase: { method: 'POST', path: '/loan/repurchase', limit: 16 * KIB },
  webhook: {
    method: 'POST',
    path: '/webhook',
    limit: 64 * KIB,
    list: (entries) => `{"events":[${entries}],"fund_ids":[${entries}]}`,
  },
  'webhook update': { method: 'PATCH', path: '/webhook/hook-1', limit: 64 * KIB },
  renegotiation: {
    method: 'PATCH',
    path: '/loan/renegotiate',
    limit: 256 * KIB,
    list: (entries) => `{"new_proposal":{"installments":[${entries}]}}`,
  },
  'renegotiation with documents': {
    method: 'PATCH',
    path: '/loan/renegotiate',
    limit: 256 * KIB,
    part: 'renegotiation_data',
    list: (entries) =>
      `{"original_proposal_codes":[${entries}],"new_loan":{"installments":[${entries}],"backing_documents":[${entries}]}}`,
  },
  loan: {
    method: 'POST',
    path: '/loan',
    limit: 256 * KIB,
    part: 'loan_data',
    list: (entries) => `{"installments":[${entries}],"backing_documents":[${entries}]}`,
  },
  files: {
    method: 'POST',
    path: '/loan/files',
    limit: 16 * KIB,
    part: 'files_data',
    list: (entries) => `{"documents":[${entries}]}`,
  },
};

const filled = (limit: number, entry: (i: number) => string, around: (entries: string) => string): string => {
  const entries: string[] = [];
  let size = around('').length;
  /** The entries may stand in several places of the body. */
  const places = around('x').length - size;
  for (let i = 0; ; i += 1) {
    const next = entry(i);
    const more = places * (next.length + 1);
    if (size + more > limit) return around(entries.join(','));
    entries.push(next);
    size += more;
  }
};
const object = (entries: string): string => `{${entries}}`;
const list = (entries: string): string => `[${entries}]`;

/** What fills a body with as much work as it can hold. */
const hostile = ({ limit, list: inList }: Target): Readonly<Record<string, string>> => ({
  'unknown fields': filled(limit, (i) => `"${i.toString(36)}":1`, object),
  'fields nearly known': filled(limit, (i) => `"originator_proposal_cod${i}x":1`, object),
  'misspelt fields': filled(limit, (i) => `"${'_'.repeat(i % 40)}dryRun${'_'.repeat(i % 7)}":1`, object),
  'one long name': `{"${'_'.repeat(limit - 20)}":1}`,
  'one long text': `{"originator_proposal_code":"${' '.repeat(limit - 60)}"}`,
  decimals: filled(limit, (i) => `0.${i % 10}23`, list),
  'long decimals': filled(limit, (i) => `0.${String(i).padStart(17, '1')}`, list),
  'a long decimal among short ones': filled(
    limit,
    () => '1',
    (rest) => `[0.12345678901234567890,${rest}]`,
  ),
  'texts behind a long decimal': filled(
    limit,
    () => '""',
    (rest) => `[0.12345678901234567890,${rest}]`,
  ),
  'one long number': `{"settled_value":0.${'1'.repeat(limit - 40)}}`,
  'empty objects': filled(limit, () => '{}', inList ?? list),
  'objects with one misspelt field': filled(limit, (i) => `{"dueDat${i % 10}x":1}`, inList ?? list),
  'installments with every field wrong': filled(
    limit,
    () => '{"code":"","due_date":"","face_value":0.001}',
    inList ?? list,
  ),
  'repeated installments': filled(
    limit,
    () => '{"code":"1","due_date":"2026-02-30","face_value":1}',
    inList ?? list,
  ),
  'names of which the last comes twice': filled(
    limit,
    (i) => `"\\u0061${i.toString(36)}":1`,
    (rest) => `{"b":1,${rest},"b":1}`,
  ),
  'broken at its end': filled(
    limit,
    (i) => `"\\u0061${i.toString(36)}":"\\u0061"`,
    (rest) => `{${rest},}`,
  ),
  'lone surrogates': filled(limit, () => '"\\ud800"', inList ?? list),
});

const multipart = (part: string, data: string): Buffer =>
  Buffer.from(`--b\r\nContent-Disposition: form-data; name="${part}"\r\n\r\n${data}\r\n--b--\r\n`);

const mediaTypeOf = (path: string, part: string | undefined): string => {
  if (path === '/token') return 'application/x-www-form-urlencoded';
  return part === undefined ? 'application/json' : 'multipart/form-data; boundary=b';
};

const send = ({ method, path, part }: Target, text: string): Promise<{ status: number; text: string }> =>
  new Promise((resolve, reject) => {
    const body = part === undefined ? Buffer.from(text) : multipart(part, text);
    const headers = {
      authorization: `Bearer ${tokenFor('client-a')}`,
      'content-type': mediaTypeOf(path, part),
      'content-length': String(body.length),
    };
    const outgoing = request({ port: world.port, host: '127.0.0.1', method, path, headers }, (res) => {
      const chunks: Buffer[] = [];
      res.on('data', (chunk: Buffer) => chunks.push(chunk));
      res.on('end', () => resolve({ status: res.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
    });
    outgoing.on('error', reject).end(body);
  });

describe('the most expensive body', () => {
  test.each(Object.keys(TARGETS))(
    'of %s costs the thread that serves everybody little, and its answer is short',
    async (name) => {
      const target = TARGETS[name]!;
      for (const [what, text] of Object.entries(hostile(target))) {
        let answer = { status: 0, text: '' };
        const cost = await mainThreadCost(async () => {
          world.now += 60_000;
          answer = await send(target, text);
        });
        const { details = [] } = JSON.parse(answer.text);
        expect({ what, status: answer.status, cheap: cost < MOST_MS || cost }).toEqual({
          what,
          status: 400,
          cheap: true,
        });
        expect(details.length).toBeLessThanOrEqual(MOST_VIOLATIONS);
        expect(answer.text.length).toBeLessThan(64 * KIB);
      }
    },
  );
});

test('the most expensive form of credentials costs little as well', async () => {
  const limit = 16 * KIB;
  const joined = (entry: (i: number) => string): string => {
    let text = '';
    for (let i = 0; text.length < limit - 20; i += 1) text += `${entry(i)}&`;
    return text;
  };
  const forms = {
    'names that all differ': joined((i) => i.toString(36)),
    'names that are all the same': joined(() => ''),
    'percent signs': `client_id=${'%'.repeat(limit - 20)}`,
    'encoded text': `client_id=${'%41'.repeat(limit / 3 - 20)}`,
  };
  for (const [what, text] of Object.entries(forms)) {
    const cost = await mainThreadCost(async () => {
      world.now += 60_000;
      await send({ method: 'POST', path: '/token', limit }, text);
    });
    expect({ what, cheap: cost < MOST_MS || cost }).toEqual({ what, cheap: true });
  }
});
