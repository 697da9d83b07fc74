import { expect, test } from '@jest/globals';
import { ForgetBorrower } from '../../../application/privacy/forget-borrower.ts';
import type { Forgetting } from '../../../application/privacy/forget-borrower.ts';
import { UnreadableEventError } from '../../../application/event-codec/fields.ts';
import { loanDecider } from '../../../domain/loan/index.ts';
import type { LoanState } from '../../../domain/loan/index.ts';
import type { RenegotiationId } from '../../../domain/shared/identifiers.ts';
import { receiveL1 } from '../../domain/support/loan-story.ts';
import { fixedClock } from '../../support/application-parts.ts';

const NONE: LoanState = { status: 'none' };
const RESERVED: LoanState = { status: 'code_reserved', renegotiationId: 'r-1' as RenegotiationId };

/** All lead to the borrower; undefined cannot be read. */
type States = Readonly<Record<string, LoanState | undefined>>;

const forgettingOf = (states: States, gone: string[] = []): ForgetBorrower => {
  const preview = async (stream: string) => {
    const state = states[stream];
    if (!state) throw new UnreadableEventError('loan.received.v1: field code should be text');
    return { state };
  };
  const commands = { preview };
  return new ForgetBorrower({
    commands: commands as unknown as Forgetting['commands'],
    events: { read: async () => ({ events: [], revision: 'no_stream' }) } as unknown as Forgetting['events'],
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
    pause: async () => undefined,
  });
};

/** The streams whose old keys go, of those that the borrower was tried for. */
const cleared = async (states: States): Promise<readonly string[]> => {
  const gone: string[] = [];
  await forgettingOf(states, gone).clearRefused('52998224725');
  return gone;
};

test('what a refused attempt left goes, and never the key of an operation that a renegotiation has still to bring in', async () => {
  expect(await cleared({ 'loan-app.refused': NONE, 'loan-app.reserved': RESERVED })).toEqual([
    'loan-app.refused',
  ]);
});

test('one operation that cannot be read keeps no other from being found and cleared, and is named', async () => {
  const received = loanDecider.decide(receiveL1, NONE).reduce(loanDecider.evolve, NONE as LoanState);
  const states = { 'loan-app.damaged': undefined, 'loan-app.good': received, 'loan-app.refused': NONE };
  expect(await forgettingOf(states).find('52998224725')).toMatchObject({
    operations: [
      { code: 'damaged', status: 'unreadable' },
      { code: 'good', status: 'received' },
    ],
    unreadable: [],
  });
  expect(await forgettingOf(states).find('52998224725', 'other')).toEqual({ operations: [], unreadable: [] });
  expect(await cleared(states)).toEqual(['loan-app.refused']);
});
