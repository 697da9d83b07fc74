import type { ExplainedLine } from '../../domain/curve/explained-value.ts';
import { loanDecider } from '../../domain/loan/index.ts';
import type { LoanEvent, LoanState } from '../../domain/loan/index.ts';
import { addDays } from '../../domain/shared/calendar-date.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import type { PrivateText } from '../../domain/shared/private-text.ts';
import { loanStream } from '../command-handling/operation.ts';
import type { OperationPlace } from '../command-handling/operation.ts';
import { decodeLoanEvent, findBrokenLink } from '../event-codec/event-codec.ts';
import { businessDayOf } from '../support/business-day.ts';
import type { BorrowerVault } from '../ports/borrower-vault.ts';
import type { EventStore, RecordedEvent } from '../ports/event-store.ts';
import { readTexts } from '../privacy/forget-borrower.ts';
import { unlessKeyMissing } from '../privacy/missing-keys.ts';
import { explainPayoff, explainPrice } from './explained-price.ts';
import type { ExplainedPrice } from './explained-price.ts';

const statedDate = (event: LoanEvent, before: LoanState): CalendarDate | undefined => {
  if ('settledAt' in event) return event.settledAt;
  if (event.type === 'PrepaymentProcessed') return event.prepaymentDate;
  if (event.type === 'RepurchaseRequested') return event.effectiveDate;
  // Processed later, it counts from the day that was asked for.
  if (event.type === 'RepurchaseCompleted' && 'repurchase' in before) return before.repurchase.effectiveDate;
  if (event.type === 'InstallmentBecameOverdue') return addDays(event.dueDate, 1);
  return event.type === 'LoanDisbursed' ? event.disbursementDate : undefined;
};

const businessDateOf = (event: LoanEvent, recordedAt: string, before: LoanState): CalendarDate => {
  const happenedAt = event.type === 'LoanDisbursed' ? event.disbursedAt : recordedAt;
  return statedDate(event, before) ?? businessDayOf(happenedAt);
};

interface Shown {
  readonly recorded: RecordedEvent;
  readonly event: LoanEvent;
}
type Fields = Readonly<Record<string, unknown>>;
type Open = (texts: readonly PrivateText[]) => Promise<readonly (string | undefined)[]>;

const KEY_MISSING = '(key missing)';

/** What an event holds that may name a person, in the order of its payload. */
const privateTexts = ({ event }: Shown): readonly PrivateText[] => {
  if ('documents' in event) return event.documents.map(({ value }) => value);
  return event.type === 'RepurchaseRequested' && event.reasonDetail !== undefined ? [event.reasonDetail] : [];
};

const readable = ({ recorded, event }: Shown, next: () => string | null): Fields => {
  const { borrower: _, ...payload } = JSON.parse(recorded.data) as Fields;
  if ('documents' in event) {
    const documents = payload['documents'] as readonly Fields[];
    return { ...payload, documents: documents.map((one) => ({ ...one, value: next() })) };
  }
  return 'reason_detail' in payload ? { ...payload, reason_detail: next() } : payload;
};

/** The stored payloads as they may be shown: without the borrower, and with private texts opened, or null where they do not open. */
const payloadsOf = async (events: readonly Shown[], open: Open): Promise<readonly Fields[]> => {
  const opened = (await open(events.flatMap(privateTexts))).values();
  const next = (): string | null => opened.next().value ?? null;
  return events.map((one) => readable(one, next));
};

export interface ShowRequest extends OperationPlace {
  /** Leaves out what counts only from a later day on; default: nothing. */
  readonly asOf?: CalendarDate | undefined;
  readonly knownAt?: string | undefined;
  /** Whose price is explained: the event of this revision alone, or no event's; default: each event's. */
  readonly prices?: bigint | 'none';
}

export interface ShownEvent {
  readonly recorded: RecordedEvent;
  readonly event: LoanEvent;
  /** What is stored, without the borrower, with private texts opened; null where they were forgotten, `(key missing)` where their key is lost. */
  readonly payload: object;
  readonly businessDate: CalendarDate;
  readonly leftOut: 'later_date' | 'recorded_later' | undefined;
  readonly price: ExplainedPrice | undefined;
}

export interface ShownOperation {
  readonly stream: string;
  readonly state: LoanState;
  readonly events: readonly ShownEvent[];
  /** Revision of the first event whose hash does not follow; undefined when all do. */
  readonly brokenAt: number | undefined;
  readonly payoff: readonly ExplainedLine[];
}

interface Dependencies {
  readonly events: Pick<EventStore, 'read'>;
  readonly vault: Pick<BorrowerVault, 'openTexts'>;
}

/** As it was on a day, or known at an instant. @throws DomainError `loan_not_found` @throws UnreadableEventError */
export const showOperation = async (
  { events: log, vault }: Dependencies,
  { applicationId, code, asOf, knownAt, prices }: ShowRequest,
): Promise<ShownOperation> => {
  const stream = loanStream(applicationId, code);
  const { events } = await log.read(stream);
  if (events.length === 0)
    throw new DomainError('loan_not_found', `application ${applicationId} has no operation ${code}`);
  // Prices are explained on the state that decided them; what is shown leaves events out.
  let [decided, state] = [loanDecider.initialState, loanDecider.initialState];
  const shown = events.map((recorded): Omit<ShownEvent, 'payload'> => {
    const event = decodeLoanEvent(recorded);
    const { recordedAt } = recorded.metadata;
    const businessDate = businessDateOf(event, recordedAt, decided);
    const wanted = prices === undefined || prices === recorded.revision;
    const price = wanted ? explainPrice(event, decided) : undefined;
    const leftOut =
      knownAt !== undefined && recordedAt > knownAt
        ? 'recorded_later'
        : asOf !== undefined && businessDate > asOf
          ? 'later_date'
          : undefined;
    decided = loanDecider.evolve(decided, event);
    if (leftOut === undefined) state = loanDecider.evolve(state, event);
    return { recorded, event, businessDate, leftOut, price };
  });
  const broken = findBrokenLink(stream, events);
  return {
    stream,
    state,
    events: await withPayloads(vault, stream, shown, decided),
    brokenAt: broken === -1 ? undefined : broken,
    payoff: asOf === undefined ? [] : explainPayoff(state, asOf),
  };
};

/** Names and remarks are hidden once the borrower is forgotten, also those that an earlier version stored plainly. */
const withPayloads = async (
  vault: Dependencies['vault'],
  stream: string,
  shown: readonly Omit<ShownEvent, 'payload'>[],
  state: LoanState,
): Promise<readonly ShownEvent[]> => {
  const hidden = 'schedule' in state && state.borrowerForgottenAt !== undefined;
  const open = async (texts: readonly PrivateText[]): Promise<readonly (string | undefined)[]> => {
    if (hidden) return [];
    // The events that put a lost key right have to be seen.
    return unlessKeyMissing(
      () => readTexts(vault, stream, texts),
      texts.map(() => KEY_MISSING),
    );
  };
  const payloads = await payloadsOf(shown, open);
  return shown.map((one, i) => ({ ...one, payload: payloads[i]! }));
};
