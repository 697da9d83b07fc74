import type { SealRecord, SqlSealBook } from '../audit/seals/seal-book.ts';
import type { BusinessClock, RealClock } from '../ports/clock.ts';
import type { RecordedEvent } from '../ports/event-store.ts';
import type { LogOrder } from '../ports/read-models.ts';

export interface KeptDependencies {
  readonly book: Pick<SqlSealBook, 'page' | 'head' | 'lastBegin'>;
  readonly order: Pick<LogOrder, 'compare'>;
  readonly clock: BusinessClock;
  readonly realClock: RealClock;
  /** Of what was delivered; what was given up stays longer. */
  readonly keptForMs: number;
}

/** What a comparison takes may be removed meanwhile. */
const SLACK_MS = 3_600_000;

/**
 * Tells for which events no delivery can have been removed for its age. That goes by real time, events are recorded by business time: a
 * sandbox may have moved it by months. The seals say when a stretch of the log was there; without one the two clocks' distance bounds it.
 */
export const keptDeliveries = async ({ book, order, clock, realClock, keptForMs }: KeptDependencies) => {
  const from = Date.parse(realClock.realNow()) - keptForMs + SLACK_MS;
  const since = new Date(from).toISOString();
  const sealed = await appendedAfter(book, since);
  const ahead = Math.max(0, Date.parse(clock.now()) - Date.parse(realClock.realNow()));
  const recordedSince = new Date(from + ahead).toISOString();
  return {
    since,
    // What was found there may be young all the same: its own times say so.
    from: sealed === undefined || sealed.kind === 'found' ? 'start' : sealed.through,
    covers: ({ position, metadata }: Pick<RecordedEvent, 'position' | 'metadata'>): boolean =>
      metadata.recordedAt >= recordedSince ||
      (sealed !== undefined && order.compare(position, sealed.through) > 0),
  };
};

/** Undefined where the seals do not say. A live seal is made within seconds of its events. */
const appendedAfter = async (
  book: KeptDependencies['book'],
  instant: string,
): Promise<SealRecord | undefined> => {
  const [begin, head] = [await book.lastBegin(), await book.head()];
  if (begin === 0 || !head) return undefined;
  const at = async (number: number): Promise<SealRecord> => (await book.page(number - 1, 1))[0]!;
  let [before, first] = [begin, head.number + 1];
  while (first - before > 1) {
    const middle = Math.floor((before + first) / 2);
    const { kind, sealedAt } = await at(middle);
    if (kind === 'live' && sealedAt >= instant) first = middle;
    else before = middle;
  }
  return first > head.number ? undefined : at(before);
};
