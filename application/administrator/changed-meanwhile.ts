import { loanDecider } from '../../domain/loan/index.ts';
import type { ExistingLoan, LoanState } from '../../domain/loan/state.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import { actorNamed, operatorOf } from '../command-handling/actors.ts';
import { decodeLoanEvent } from '../event-codec/event-codec.ts';
import type { RecordedEvent } from '../ports/event-store.ts';

export interface StatusChange {
  readonly status: string;
  readonly actor: string;
  readonly at: string;
}

export interface FoundLoan {
  readonly loan: ExistingLoan;
  readonly changes: readonly StatusChange[];
}

export class ChangedMeanwhileError extends DomainError {
  readonly status: string;
  /** Oldest first: since it was in the expected status, or all of them where it never was. */
  readonly changes: readonly StatusChange[];

  constructor(code: string, expected: string, changes: readonly StatusChange[]) {
    const status = changes.at(-1)?.status ?? 'unknown';
    const told = changes.map((one) => `${one.status} by ${personOf(one.actor)} at ${one.at}`).join(', ');
    super('operation_invalid_state', `operation ${code} is ${status}, not ${expected}: ${told}`, [
      { field: 'expected_status', code: 'changed_meanwhile', message: `it is ${status}` },
    ]);
    this.status = status;
    this.changes = changes;
  }
}

const personOf = (actor: string): string =>
  operatorOf(actor) ?? (actor === actorNamed(undefined) ? 'the administrator' : actor);

export const statusOf = ({ status }: LoanState): string => (status === 'reserved' ? 'active' : status);

/** An operation as its events leave it, and what it went through since it was in this status. @throws UnreadableEventError */
export const foundSince = (
  expected: string,
  events: readonly RecordedEvent[],
): { readonly state: LoanState; readonly changes: readonly StatusChange[] } => {
  let state = loanDecider.initialState;
  let since: StatusChange[] = [];
  for (const recorded of events) {
    const before = statusOf(state);
    state = loanDecider.evolve(state, decodeLoanEvent(recorded));
    const status = statusOf(state);
    if (status === before) continue;
    const { actor, recordedAt: at } = recorded.metadata;
    since = status === expected ? [] : [...since, { status, actor, at }];
  }
  return { state, changes: since };
};
