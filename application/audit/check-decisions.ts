import { messageOf } from '../support/error-message.ts';
import { isDailyFactor } from '../../domain/curve/daily-factor-check.ts';
import { solveDailyFactor } from '../../domain/curve/daily-factor.ts';
import { loanDecider } from '../../domain/loan/index.ts';
import type { LoanEvent, LoanReceived, LoanState } from '../../domain/loan/index.ts';
import { parseLoanStream } from '../command-handling/stream-names.ts';
import { encodeEvent } from '../event-codec/event-codec.ts';
import { decideAgain } from './causes.ts';
import type { DecodedEvent } from './decoded-event.ts';
import { shown } from './difference.ts';
import type { DifferenceKind, Report } from './difference.ts';
import { fieldDifferences } from './field-differences.ts';

const PRICED: ReadonlySet<LoanEvent['type']> = new Set([
  'InstallmentSettled',
  'InstallmentUnderpaid',
  'PrepaymentProcessed',
  'LoanFullySettled',
  'RepurchaseRequested',
  'RepurchaseCompleted',
]);

const kindOf = ({ type }: LoanEvent): DifferenceKind => (PRICED.has(type) ? 'price' : 'decision');

/** Text first, which is equal almost always; otherwise field by field, because older versions may have written another order. */
const compareEvents = (expected: LoanEvent, found: DecodedEvent<LoanEvent>, report: Report): void => {
  const again = encodeEvent(expected);
  const { stream, revision, type, data } = found.recorded;
  if (again.type === type && again.data === data) return;
  const place = { kind: kindOf(found.event), stream, revision: Number(revision) };
  if (again.type !== type) return report({ ...place, what: 'type', expected: again.type, found: type });
  for (const { path, ...values } of fieldDifferences(JSON.parse(again.data), JSON.parse(data))) {
    const [before, after] = [shown(path, values.expected), shown(path, values.found)];
    report({ ...place, what: path, expected: before, found: after });
  }
};

const checkReception = (
  { recorded: { stream, revision }, event }: DecodedEvent<LoanReceived>,
  report: Report,
): void => {
  const named = parseLoanStream(stream);
  const place = { stream, revision: Number(revision) };
  for (const [what, expected, found] of [
    ['application_id', named?.applicationId, event.applicationId],
    ['code', named?.code, event.code],
  ] as const) {
    if (expected !== found)
      report({ kind: 'decision', ...place, what, expected: shown(what, expected), found });
  }
  const { dailyFactor } = event.pricing;
  try {
    if (isDailyFactor(dailyFactor, event)) return;
    const expected = solveDailyFactor(event.acquisitionValue, event.dateIssued, event.installments);
    report({ kind: 'price', ...place, what: 'pricing.daily_factor', expected, found: dailyFactor });
  } catch (error) {
    const expected = messageOf(error);
    report({ kind: 'price', ...place, what: 'pricing.daily_factor', expected, found: dailyFactor });
  }
};

/** Decides everything once more, each event on the state that the ones before it left. */
export class DecisionCheck {
  readonly #report: Report;
  readonly #code: string;
  #state: LoanState = loanDecider.initialState;
  /** What the last command caused as well, and the log has still to show. */
  #due: readonly LoanEvent[] = [];

  constructor(stream: string, report: Report) {
    this.#report = report;
    this.#code = parseLoanStream(stream)?.code ?? '';
  }

  get state(): LoanState {
    return this.#state;
  }

  take(found: DecodedEvent<LoanEvent>): void {
    const { event } = found;
    const [expected, ...rest] = this.#due.length > 0 ? this.#due : this.#decide(found);
    this.#due = rest;
    if (expected) compareEvents(expected, found, this.#report);
    if (event.type === 'LoanReceived') checkReception({ ...found, event }, this.#report);
    this.#state = loanDecider.evolve(this.#state, event);
  }

  /** To be called after the last event. */
  end(stream: string, revision: number): void {
    for (const missing of this.#due) {
      const { type } = encodeEvent(missing);
      const place = { kind: kindOf(missing), stream, revision, what: 'type' };
      this.#report({ ...place, expected: `${type} after it`, found: 'the end of the stream' });
    }
  }

  #decide(found: DecodedEvent<LoanEvent>): readonly LoanEvent[] {
    const { stream, revision, type } = found.recorded;
    let reason = `nothing causes it in status ${this.#state.status}`;
    try {
      const decided = decideAgain(found.event, this.#state, this.#code);
      if (decided.length > 0) return decided;
    } catch (error) {
      reason = messageOf(error);
    }
    const place = { stream, revision: Number(revision), what: 'rule' };
    this.#report({ kind: 'decision', ...place, expected: reason, found: type });
    return [];
  }
}
