import { describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { fold, loanDecider } from '../../../domain/loan/index.ts';
import { installmentsOf, openFaceValue } from '../../../domain/loan/state.ts';
import type { LoanEvent, LoanState } from '../../../domain/loan/index.ts';
import { stateAfter } from '../../../domain/shared/decider.ts';
import { activated, becameOverdue, paid } from '../support/loan-story.ts';
import { anyCommand, anyStory, decideOrRefuse, repeatableCommand } from '../support/stories.ts';

const deepFreeze = <T>(value: T): T => {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(deepFreeze);
  }
  return value;
};

const evolveAll = (state: LoanState, events: readonly LoanEvent[]): LoanState =>
  events.reduce((before, event) => loanDecider.evolve(before, event), state);

const isOpen = ({ status }: { readonly status: string }): boolean =>
  status === 'pending' || status === 'overdue';

const receivedBy = (event: LoanEvent): number => {
  if (event.type === 'InstallmentSettled') return event.settledValue;
  return event.type === 'PrepaymentProcessed' ? event.prepaymentValue - event.excessValue : 0;
};

const TERMINAL = new Set<LoanState['status']>(['rejected', 'settled', 'repurchased', 'reversed', 'resolved']);

/** Events of other operations, in any order: what a damaged stream could hold at worst. */
const anyEvents = fc.array(anyStory, { minLength: 1, maxLength: 3 }).chain((stories) =>
  fc.shuffledSubarray(
    stories.flatMap(({ events }) => events),
    { minLength: 1 },
  ),
);

describe('evolve', () => {
  test('is total and pure: frozen states and events in any order', () => {
    fc.assert(
      fc.property(anyStory, anyEvents, ({ state }, events) => {
        for (const start of [loanDecider.initialState, state]) {
          let current = deepFreeze(start);
          for (const event of events) current = deepFreeze(loanDecider.evolve(current, deepFreeze(event)));
          expect(current).toEqual(evolveAll(start, events));
        }
      }),
      { numRuns: 60 },
    );
  });

  test('gives the same state however the stream is read in parts', () => {
    fc.assert(
      fc.property(anyStory, fc.nat(), ({ events, state }, at) => {
        const cut = at % (events.length + 1);
        const half = stateAfter(loanDecider, events.slice(0, cut));
        expect(evolveAll(half, events.slice(cut))).toEqual(state);
      }),
      { numRuns: 40 },
    );
  });

  test('survives events that were written down as JSON', () => {
    fc.assert(
      fc.property(anyStory, ({ events, state }) => {
        expect(stateAfter(loanDecider, JSON.parse(JSON.stringify(events)) as LoanEvent[])).toEqual(state);
      }),
      { numRuns: 40 },
    );
  });
});

describe('fold', () => {
  test('is evolving by one event after the other, from any state and by any events, all of which it leaves alone', () => {
    fc.assert(
      fc.property(anyStory, anyEvents, fc.nat(), ({ events: own }, others, at) => {
        const cut = at % (own.length + 1);
        const start = deepFreeze(stateAfter(loanDecider, own.slice(0, cut)));
        for (const events of [own.slice(cut), others])
          expect(fold(start, deepFreeze(events))).toEqual(evolveAll(start, events));
      }),
      { numRuns: 60 },
    );
  });

  test('answers the very state that no event has changed', () => {
    const state = fold(stateAfter(loanDecider, activated), [paid('001')]);
    expect(fold(state, [paid('001'), becameOverdue('001')])).toBe(state);
    expect(fold(state, [])).toBe(state);
  });

  test('copies the installments once, however many events change them', () => {
    const codes = Array.from({ length: 12 }, (_, i) => String(i + 1).padStart(3, '0'));
    const state = stateAfter(loanDecider, activated);
    const events: LoanEvent[] = codes.flatMap((code) => [becameOverdue(code), paid(code)]);
    const copied = jest.spyOn(Array.prototype, Symbol.iterator);
    const updated = jest.spyOn(Array.prototype, 'with');
    try {
      const folded = fold(state, events);
      const copies = [...copied.mock.contexts, ...updated.mock.contexts];
      expect(copies.filter((list) => Array.isArray(list) && list.length === 12)).toHaveLength(1);
      expect(folded).toMatchObject({ openCount: 0 });
    } finally {
      copied.mockRestore();
      updated.mockRestore();
    }
  });
});

describe('decide', () => {
  test('refuses or decides, and leaves a frozen state and command alone', () => {
    fc.assert(
      fc.property(anyStory, anyCommand, ({ state }, command) => {
        const decided = decideOrRefuse(deepFreeze(command), deepFreeze(state));
        expect(decideOrRefuse(command, state)).toEqual(decided);
      }),
      { numRuns: 60 },
    );
  });

  test('of an administrator or a timer, once carried out, causes nothing more', () => {
    fc.assert(
      fc.property(anyStory, repeatableCommand, fc.nat(), ({ events }, command, at) => {
        const state = stateAfter(loanDecider, events.slice(0, at % (events.length + 1)));
        const decided = decideOrRefuse(command, state);
        fc.pre(decided.length > 0);
        expect(loanDecider.decide(command, evolveAll(state, decided))).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  test('leaves an ended operation in its end, and an installment closed', () => {
    fc.assert(
      fc.property(anyStory, anyCommand, ({ state }, command) => {
        const after = evolveAll(state, decideOrRefuse(command, state));
        // Documents may be added to what has ended, but for that nothing moves.
        if (TERMINAL.has(state.status))
          expect({ ...after, documents: [] }).toEqual({ ...state, documents: [] });
        if (!('changed' in state) || !('changed' in after)) return;
        const then = installmentsOf(after);
        installmentsOf(state).forEach((installment, i) => {
          if (!isOpen(installment)) expect(then[i]).toBe(installment);
        });
      }),
      { numRuns: 80 },
    );
  });
});

describe('the books of any operation', () => {
  test('money received is what the payments brought, net of excess', () => {
    fc.assert(
      fc.property(anyStory, ({ events, state }) => {
        const expected = events.reduce((sum, event) => sum + receivedBy(event), 0);
        expect('receivedValue' in state ? state.receivedValue : 0).toBe(expected);
        const closing = events.find((event) => event.type === 'LoanFullySettled');
        if (closing) expect(closing.totalReceived).toBe(expected);
      }),
      { numRuns: 80 },
    );
  });

  test('the open count counts what is open, and nothing open means settled', () => {
    fc.assert(
      fc.property(anyStory, ({ events, state }) => {
        if (!('changed' in state)) return;
        const installments = installmentsOf(state);
        const open = installments.filter(isOpen);
        expect(state.openCount).toBe(open.length);
        expect(openFaceValue(installments)).toBe(open.reduce((sum, { faceValue }) => sum + faceValue, 0));
        expect(open.length === 0).toBe(state.status === 'settled');
        // Only documents may still come after the end.
        const last = events.findLast(({ type }) => type !== 'DocumentsAdded');
        if (state.status === 'settled') expect(last?.type).toBe('LoanFullySettled');
      }),
      { numRuns: 80 },
    );
  });

  test('each payment says what it was compared with: the difference is exactly what is missing', () => {
    fc.assert(
      fc.property(anyStory, ({ events }) => {
        events.forEach((event, i) => {
          if (event.type !== 'InstallmentSettled') return;
          const next = events[i + 1];
          const missing = event.scheduledValue - event.settledValue;
          expect(next?.type === 'InstallmentUnderpaid').toBe(missing > 0);
          if (next?.type === 'InstallmentUnderpaid') expect(next.difference).toBe(missing);
        });
      }),
      { numRuns: 80 },
    );
  });
});
