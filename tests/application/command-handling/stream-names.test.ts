import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { loanStream, parseLoanStream } from '../../../application/command-handling/operation.ts';

const visibleAscii = fc.string({
  unit: fc.integer({ min: 33, max: 126 }).map((c) => String.fromCharCode(c)),
  minLength: 1,
  maxLength: 100,
});

describe('stream names', () => {
  test('a code comes back as it was, byte for byte', () => {
    fc.assert(
      fc.property(visibleAscii, (code) => {
        const stream = loanStream('app_1', code);
        expect(stream).toMatch(/^loan-app_1\.[A-Za-z0-9_~-]+$/);
        expect(parseLoanStream(stream)).toEqual({ applicationId: 'app_1', code });
      }),
    );
  });

  test('different codes have different streams', () => {
    fc.assert(
      fc.property(visibleAscii, visibleAscii, (a, b) => a === b || loanStream('x', a) !== loanStream('x', b)),
    );
  });

  test('other streams are not operations', () => {
    expect(parseLoanStream('renegotiation-1')).toBeUndefined();
  });
});
