import type { LoanEvent } from '../../domain/loan/index.ts';
import type { PrivateText } from '../../domain/shared/private-text.ts';
import type { RecordedEvent } from '../ports/event-store.ts';

interface Shown {
  readonly recorded: RecordedEvent;
  readonly event: LoanEvent;
}
type Fields = Readonly<Record<string, unknown>>;
type Open = (texts: readonly PrivateText[]) => Promise<readonly (string | undefined)[]>;

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
export const payloadsOf = async (events: readonly Shown[], open: Open): Promise<readonly Fields[]> => {
  const opened = (await open(events.flatMap(privateTexts))).values();
  const next = (): string | null => opened.next().value ?? null;
  return events.map((one) => readable(one, next));
};
