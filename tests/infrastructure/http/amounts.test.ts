import { describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { asyncApiDocument } from '../../../application/publication/description/asyncapi-document.ts';
import { DocumentValidators } from '../../../application/schemas/document-validators.ts';
import { openApiDocument } from '../../../infrastructure/http/openapi/document.ts';
import { API_VERSION } from '../../../infrastructure/http/openapi/version.ts';

type Json = ReturnType<typeof JSON.parse>;

const OPENAPI = openApiDocument({ publicUrl: 'http://localhost:3000', authUrl: 'http://localhost:3000' });
const DOCUMENTS: readonly (readonly [string, Json])[] = [
  ['OpenAPI', OPENAPI],
  ['AsyncAPI', asyncApiDocument(API_VERSION)],
];

describe('the published schema of amounts', () => {
  test.each(DOCUMENTS)(
    'of %s takes every amount of whole cents, in a validator that nobody tuned',
    (_, document) => {
      expect(JSON.stringify(document)).not.toContain('multipleOf');
      const validate = new Ajv2020({ strict: false }).compile(document.components.schemas.Amount);
      const refused: string[] = [];
      for (let cents = 1; cents <= 200_000; cents += 1) {
        const text = `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`;
        if (!validate(JSON.parse(text))) refused.push(text);
      }
      expect(refused).toEqual([]);
      expect([0, 1e9, '1', null].map((value) => validate(value))).toEqual([false, false, false, false]);
    },
  );

  test('and the service refuses what the text says it refuses', () => {
    const amount = new DocumentValidators(OPENAPI).component('Amount', 'amount');
    expect([0.07, 0.57, 999_999_999.99, 19.9, 1].map((value) => amount(value))).toEqual([[], [], [], [], []]);
    for (const value of [0.001, 0.075, 999_999_999.985, 1e9, 5e-324, Number.MAX_VALUE])
      expect([value, amount(value)]).toMatchObject([value, [{ code: 'invalid_amount' }]]);
  });
});
