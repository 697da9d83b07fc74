import { expect } from '@jest/globals';
import { stateAfter } from '../../domain/shared/decider.ts';
import type { Decider } from '../../domain/shared/decider.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import type { DomainErrorCode } from '../../domain/shared/domain-error.ts';

/** The refusal that the action ends in; the test fails when it is not refused. */
export const refusalOf = (action: () => unknown): DomainError => {
  try {
    action();
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
  throw new Error('expected a refusal');
};

/** Tests as sentences: given these events, when this command, then these events or this refusal. */
export const specFor = <State, Command, Event>(decider: Decider<State, Command, Event>) => ({
  given: (...events: readonly Event[]) => ({
    when: (command: Command) => {
      const decided = (): readonly Event[] => decider.decide(command, stateAfter(decider, events));
      return {
        then: (...expected: readonly Event[]): void => expect(decided()).toEqual(expected),
        thenNothing: (): void => expect(decided()).toEqual([]),
        thenRefused: (code: DomainErrorCode, message?: RegExp): void => {
          const refusal = refusalOf(decided);
          expect(refusal.code).toBe(code);
          if (message) expect(refusal.message).toMatch(message);
        },
      };
    },
  }),
});
