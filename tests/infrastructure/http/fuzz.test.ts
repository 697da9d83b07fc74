import { afterAll, describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { DocumentValidators, parseExactJson } from '../../../application/schemas/document-validators.ts';
import { valueSchemas } from '../../../application/schemas/values.ts';
import { loanForm, validLoanData, validSettlement, withField } from '../../support/http-requests.ts';
import { HttpWorld } from '../../support/http-world.ts';

const [SURROGATES, AFTER_THEM, LAST] = [0xd800, 0xe000, 0x10ffff] as const;

/** Any character of Unicode: what fast-check's unit `binary` is, without its table of a million that each suite would make anew. */
const codePoint = fc
  .integer({ min: 0, max: LAST - (AFTER_THEM - SURROGATES) })
  .map((n) => String.fromCodePoint(n < SURROGATES ? n : n + (AFTER_THEM - SURROGATES)));

const world = await HttpWorld.start();
afterAll(() => world.stop());

const RUNS = { numRuns: 100 };
const LOAN_FIELDS = [
  ...[
    'fund_id',
    'originator_proposal_code',
    'acquisition_value',
    'number_of_installments',
    'date_issued',
    'borrower',
  ],
  ...[
    'borrower.address',
    'borrower.document_type',
    'installments',
    'installments[0]',
    'installments[1].due_date',
  ],
  ...['backing_documents', 'backing_documents[0]', 'backing_documents[0].value'],
];

/** The request fits its description, and whatever it is, the answer is not our fault. */
const expectAnswered = (status: number): void => expect([200, 201, 400]).toContain(status);

describe('whatever the body is, the answer is described and is no failure of ours', () => {
  test('any JSON at the settlement', async () => {
    await fc.assert(
      fc.asyncProperty(fc.json({ maxDepth: 4 }), async (body) => {
        world.now += 60_000;
        const { status } = await world.call('POST', '/installment/settle', {
          body,
          headers: { 'content-type': 'application/json' },
        });
        expectAnswered(status);
      }),
      RUNS,
    );
  });

  test('any bytes at the settlement', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
        world.now += 60_000;
        const headers = { 'content-type': 'application/json' };
        expectAnswered(
          (await world.call('POST', '/installment/settle', { body: Buffer.from(bytes), headers })).status,
        );
      }),
      RUNS,
    );
  });

  test('a settlement with one field replaced', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...Object.keys(validSettlement())),
        fc.jsonValue(),
        async (field, value) => {
          world.now += 60_000;
          expectAnswered(
            (
              await world.call('POST', '/installment/settle', {
                json: withField(validSettlement(), field, value),
              })
            ).status,
          );
        },
      ),
      RUNS,
    );
  });

  test('a creation with one field replaced', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...LOAN_FIELDS),
        fc.jsonValue({ maxDepth: 3 }),
        async (field, value) => {
          world.now += 60_000;
          const data = withField(validLoanData(), field, value);
          expectAnswered((await world.call('POST', '/loan', { body: loanForm(data) })).status);
        },
      ),
      RUNS,
    );
  });

  test('any text as the JSON part', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.json(), fc.string()), async (text) => {
        world.now += 60_000;
        expectAnswered((await world.call('POST', '/loan', { body: loanForm(text) })).status);
      }),
      RUNS,
    );
  });

  const refusal = async (body: string): Promise<unknown> => {
    const headers = { 'content-type': 'application/json' };
    return (await world.call('POST', '/installment/settle', { body, headers })).body;
  };

  test('deep nesting', async () => {
    for (const body of [
      '['.repeat(8_000),
      `${'[1.000,'.repeat(1_000)}1${']'.repeat(1_000)}`,
      `${'{"a":'.repeat(1_000)}1${'}'.repeat(1_000)}`,
    ])
      expect(await refusal(body)).toMatchObject({ error_code: 'invalid_request' });
    expect(await refusal('['.repeat(400_000))).toMatchObject({ error_code: 'payload_too_large' });
    const nested = (levels: number) =>
      `{"x":"]}\\"${'['.repeat(99)}","a":${'['.repeat(levels)}${']'.repeat(levels)}}`;
    expect(await refusal(nested(19))).toMatchObject({ error_code: 'validation_error' });
    expect(await refusal(nested(20))).toMatchObject({ error_code: 'invalid_request' });
  });
});

describe('reading JSON exactly', () => {
  const decimal = fc.tuple(
    fc.bigInt({ min: 0n, max: 10n ** 12n }),
    fc.stringMatching(/^\d{0,12}$/),
    fc.integer({ min: -6, max: 6 }),
  );

  test('an amount passes when, and only when, its text has no significant digits after the second decimal', () => {
    const amount = new DocumentValidators({ components: { schemas: valueSchemas } }).component(
      'Amount',
      'amount',
    );
    fc.assert(
      fc.property(decimal, ([whole, fraction, exponent]) => {
        const source = `${whole}${fraction === '' ? '' : `.${fraction}`}${exponent === 0 ? '' : `e${exponent}`}`;
        // In units of 10^-20, exactly.
        const scaled = BigInt(`${whole}${fraction}`) * 10n ** BigInt(20 - fraction.length + exponent);
        const fits = scaled % 10n ** 18n === 0n && scaled > 0n && scaled <= 99_999_999_999n * 10n ** 18n;
        expect([source, amount(parseExactJson(source)).length]).toEqual([source, fits ? 0 : 1]);
      }),
    );
  });

  test.each([
    '0.1000000000000000000001',
    '950.00000000000000001',
    '1e-30',
    '123456.7800000000000001',
    '0.30000000000000004',
  ])('%s hides no third decimal behind a double', (source) =>
    expect(parseExactJson(`{"a":${source}}`)).not.toEqual({ a: Number(Number(source).toFixed(2)) }),
  );

  test('everything else is what JSON.parse makes of it', () => {
    fc.assert(
      fc.property(fc.json({ stringUnit: codePoint }), (text) => {
        if (!/\d[\d.]{15}/.test(text)) expect(parseExactJson(text)).toEqual(JSON.parse(text));
      }),
    );
    const texts = '{"a \\" 1.2345678901234567":"0.12345678901234567890","b":[950.10,12345678901234567890]}';
    expect(parseExactJson(texts)).toEqual(JSON.parse(texts));
  });

  test('a million zeros cost no time', () => {
    const started = performance.now();
    parseExactJson(`[0.${'0'.repeat(1_000_000)}1, 1${'0'.repeat(1_000_000)}.000, 1e-999999999]`);
    // Each zero looked at for each other one would be minutes.
    expect(performance.now() - started).toBeLessThan(15_000);
  });
});
