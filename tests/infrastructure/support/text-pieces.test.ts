import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { textPieces } from '../../../infrastructure/http/middleware/responder.ts';

test('the pieces together are the text that JSON has for the value', () => {
  const value = fc.oneof(
    fc.jsonValue(),
    fc.dictionary(
      fc.string(),
      fc.oneof(fc.constant(undefined), fc.jsonValue(), fc.array(fc.jsonValue(), { maxLength: 100 })),
    ),
  );
  fc.assert(fc.property(value, (one) => [...textPieces(one)].join('') === JSON.stringify(one)));
});

test('a long list comes in pieces', () => {
  expect([...textPieces({ data: Array(100).fill(1), next: null })].length).toBeGreaterThan(4);
});
