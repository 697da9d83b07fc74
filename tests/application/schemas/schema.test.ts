import { describe, expect, test } from '@jest/globals';
import {
  component,
  componentOf,
  listOf,
  nullable,
  object,
  oneOf,
  partial,
  ref,
  requestObject,
  text,
} from '../../../application/schemas/schema.ts';
import type { TypeOf } from '../../../application/schemas/schema.ts';
import type { LoanCode } from '../../../domain/shared/identifiers.ts';

const Code = componentOf<LoanCode>('Code', text({ pattern: '^[A-Z]+$' }));
const Payment = component('Payment', {
  ...requestObject(
    {
      code: { ...ref(Code), description: 'Which one.' },
      value: { type: 'number', minimum: 0 },
      method: oneOf(['pix', 'boleto']),
      files: listOf(object({ name: text() })),
      note: nullable(text()),
      dry_run: { type: 'boolean', default: false },
      replaces: ref(Code),
      reason: oneOf(['late']),
    },
    ['dry_run', 'replaces', 'reason'],
  ),
  description: 'Money that came in.',
});
type Payment = TypeOf<typeof Payment>;

describe('a schema', () => {
  test('is plain JSON Schema, in which what may be left out may be null', () => {
    expect(JSON.parse(JSON.stringify(Payment.schema))).toEqual({
      type: 'object',
      required: ['code', 'value', 'method', 'files', 'note'],
      properties: {
        code: { $ref: '#/components/schemas/Code', description: 'Which one.' },
        value: { type: 'number', minimum: 0 },
        method: { type: 'string', enum: ['pix', 'boleto'] },
        files: {
          type: 'array',
          items: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } },
        },
        note: { type: ['string', 'null'] },
        dry_run: { type: ['boolean', 'null'], default: false },
        replaces: { anyOf: [{ $ref: '#/components/schemas/Code' }, { type: 'null' }] },
        reason: { type: ['string', 'null'], enum: ['late', null] },
      },
      description: 'Money that came in.',
    });
  });

  test('of changes requires nothing', () => {
    expect(partial({ note: text() })).toEqual({ type: 'object', properties: { note: { type: 'string' } } });
  });
});

/** The compiler is the judge: each of the lines below fails `tsc` when a type is not the one that its schema says. */
describe('what a schema lets through', () => {
  const code = 'OP' as LoanCode;
  const payment: Payment = { code, value: 1, method: 'pix', files: [{ name: 'a.pdf' }], note: null };

  test('has the type of its components, also of the domain', () => {
    const found: LoanCode = payment.code;
    const method: 'pix' | 'boleto' = payment.method;
    const dryRun: boolean | undefined = payment.dry_run;
    expect([found, method, dryRun]).toEqual([code, 'pix', undefined]);
  });

  test('is refused with another type, a missing or an unknown field', () => {
    // @ts-expect-error a text that is no code of the domain
    const otherCode: Payment = { ...payment, code: 'OP' };
    // @ts-expect-error a value that is not listed
    const otherMethod: Payment = { ...payment, method: 'cash' };
    // @ts-expect-error an entry without its name
    const namelessFile: Payment = { ...payment, files: [{}] };
    // @ts-expect-error a required field is missing
    const noValue: Payment = { code, method: 'pix', files: [], note: null };
    // @ts-expect-error null is not handed on for what was left out
    const nullTrial: Payment = { ...payment, dry_run: null };
    expect([otherCode, otherMethod, namelessFile, noValue, nullTrial]).toHaveLength(5);
  });
});
