import { expect, test } from '@jest/globals';
import { ForgetBorrower } from '../../../application/privacy/forget-borrower.ts';
import type { Forgetting } from '../../../application/privacy/forget-borrower.ts';
import type { LoanState } from '../../../domain/loan/index.ts';
import type { RenegotiationId } from '../../../domain/shared/identifiers.ts';
import { fixedClock } from '../../support/application-parts.ts';

const NONE: LoanState = { status: 'none' };
const RESERVED: LoanState = { status: 'code_reserved', renegotiationId: 'r-1' as RenegotiationId };

/** The streams whose old keys go, of those that the borrower was tried for. */
const cleared = async (states: Readonly<Record<string, LoanState>>): Promise<readonly string[]> => {
  const gone: string[] = [];
  const commands = { preview: async (stream: string) => ({ state: states[stream]! }) };
  const forgetting = new ForgetBorrower({
    commands: commands as unknown as Forgetting['commands'],
    index: {
      streamsOf: async () => Object.keys(states),
      entriesOf: async () => [],
      remove: async () => undefined,
    },
    keys: {
      forget: async () => undefined,
      forgetOlder: async (stream) => void gone.push(stream),
    },
    documents: { remove: async () => undefined },
    vault: { digest: (text) => text, peek: async () => undefined },
    clock: fixedClock(),
    realClock: { realNow: () => '2026-06-20T12:00:00.000Z' as never },
  });
  await forgetting.clearRefused('52998224725');
  return gone;
};

test('what a refused attempt left goes, and never the key of an operation that a renegotiation has still to bring in', async () => {
  expect(await cleared({ 'loan-app.refused': NONE, 'loan-app.reserved': RESERVED })).toEqual([
    'loan-app.refused',
  ]);
});
