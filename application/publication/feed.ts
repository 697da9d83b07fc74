import { DomainError } from '../../domain/shared/domain-error.ts';
import { LOAN_STREAM_PREFIX, loanStream, ownerOf, seesFund } from '../command-handling/operation.ts';
import type { RequestContext } from '../command-handling/request-context.ts';
import { LOAN_PROJECTION } from '../loans/loan-reader.ts';
import { ReadModelBehindError } from '../loans/read-loan.ts';
import type { PublicEvent } from '../ports/event-bus.ts';
import type { LogPosition, PlacedEvents, RecordedEvent } from '../ports/event-store.ts';
import type { Logger } from '../ports/logger.ts';
import { numberOf } from '../projecting/projected-event.ts';
import type { SqlDatabase } from '../sql/sql-database.ts';
import { messageOf } from '../support/failures.ts';
import type { LoanEventName } from './catalogue.ts';
import { READS_AT_ONCE, isOfTheEvent } from './public-events.ts';
import type { Translator } from './public-events.ts';

/** Of an event in the log, as a number; events of one append may share it. */
interface FeedPlace {
  readonly position: number;
  readonly revision: number;
}

interface FeedRow extends FeedPlace {
  readonly stream: string;
  readonly fundId: string;
}

const INDEX = 'event-index';

export class SqlFeedRows {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  /** The next ones. Where an event of the application waits in quarantine, none that comes after it: `stops`. */
  async after(
    applicationId: string,
    place: FeedPlace | undefined,
    limit: number,
  ): Promise<{ readonly rows: readonly FeedRow[]; readonly stops: boolean }> {
    let next = this.#database.builder
      .selectFrom('feed')
      .innerJoin('loan', 'loan.id', 'feed.operation')
      .select(['feed.position', 'feed.revision', 'loan.stream', 'loan.fund_id as fundId'])
      .where('feed.application_id', '=', applicationId);
    if (place)
      next = next.where((eb) =>
        eb(eb.refTuple('feed.position', 'feed.revision'), '>', eb.tuple(place.position, place.revision)),
      );
    const [rows, held] = await this.#database.snapshot([
      next.orderBy('feed.position').orderBy('feed.revision').limit(limit),
      this.#held(applicationId, LOAN_PROJECTION),
    ]);
    const end = Math.min(...held.map(({ position }) => placeNumber(position)));
    const readable = rows.filter(({ position }) => position < end);
    return {
      rows: readable,
      stops: held.length > 0 && (readable.length < rows.length || rows.length < limit),
    };
  }

  /** `behind` until every event of the feed is found by its id, `holes` where one of the operations waits. */
  async index(applicationId: string): Promise<'whole' | 'behind' | 'holes'> {
    const { builder } = this.#database;
    const [last, places, held] = await this.#database.snapshot([
      builder
        .selectFrom('feed')
        .select('position')
        .where('application_id', '=', applicationId)
        .orderBy('position', 'desc')
        .limit(1),
      builder.selectFrom('projection_checkpoint').select('position').where('name', '=', INDEX),
      this.#held(applicationId, INDEX),
    ]);
    if (held.length > 0) return 'holes';
    return (last[0]?.position ?? 0) > placeNumber(places[0]?.position ?? '') ? 'behind' : 'whole';
  }

  /** Ids of applications hold no dot, and what follows it in the order of bytes is a slash. */
  #held(applicationId: string, projection: string) {
    const prefix = `${LOAN_STREAM_PREFIX}${applicationId}`;
    return this.#database.builder
      .selectFrom('quarantined_operation')
      .select('position')
      .where('projection', '=', projection)
      .where('stream', '>=', `${prefix}.`)
      .where('stream', '<', `${prefix}/`);
  }
}

const placeNumber = (position: string): number =>
  Number(numberOf((position === '' ? 'start' : position) as LogPosition | 'start'));

export interface FeedQuery {
  readonly after?: string;
  readonly limit: number;
  readonly names?: readonly LoanEventName[];
  readonly fundId?: string;
  readonly code?: string;
}

export interface FeedPage {
  readonly events: readonly PublicEvent[];
  readonly nextAfter: string | null;
  readonly hasMore: boolean;
}

/** The next event of this application cannot be read, and none is passed over. */
export class FeedStoppedError extends Error {
  override readonly name = 'FeedStoppedError';
}

type FeedReader = Pick<RequestContext, 'applicationId' | 'onlyFundIds' | 'signal' | 'aside'>;

interface Dependencies {
  readonly rows: SqlFeedRows;
  readonly events: PlacedEvents;
  readonly translator: Translator;
  readonly byId: (eventId: string) => Promise<RecordedEvent | undefined>;
  readonly indexFollows: boolean;
  /** Resolves when the read model has what was answered. @throws ReadModelBehindError */
  readonly written: (applicationId: string) => Promise<void>;
  readonly logger: Pick<Logger, 'error'>;
  readonly sleep: (ms: number) => Promise<void>;
}

/** Rows in one look for a page that leaves some out, and how many are looked at for it, or read to be left out. */
const [WINDOW, MOST_LOOKED_AT, MOST_READ] = [1_000, 10_000, 500];
const [LOOK_AGAIN_MS, LONGEST_WAIT_MS] = [50, 3_000];

const stopped = (cause?: unknown): FeedStoppedError =>
  new FeedStoppedError('an event of this application cannot be read', { cause });

const unknownAfter = (): DomainError => {
  const message =
    'after names no event of this application; use next_after of an earlier page, or leave it out';
  return new DomainError('invalid_query_parameter', message, [{ field: 'after', code: 'invalid', message }]);
};

interface Looking {
  readonly taken: PublicEvent[];
  lastId: string | undefined;
  unread: FeedRow[];
  read: number;
  enough: boolean;
  stopped: boolean;
}

export class Feed {
  readonly #deps: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
  }

  /** @throws DomainError `invalid_query_parameter` @throws FeedStoppedError @throws ReadModelBehindError */
  async page(reader: FeedReader, query: FeedQuery): Promise<FeedPage> {
    await this.#deps.written(reader.applicationId);
    const place = query.after === undefined ? undefined : await this.#placeOf(reader, query.after);
    const page: Looking = {
      taken: [],
      lastId: undefined,
      unread: [],
      read: 0,
      enough: false,
      stopped: false,
    };
    const hasMore = await this.#fill({ reader, query, page }, place);
    const nextAfter = (await this.#lastId(page)) ?? query.after ?? null;
    return { events: page.taken, nextAfter, hasMore };
  }

  async #fill(hand: PageInHand, from: FeedPlace | undefined): Promise<boolean> {
    const { reader, query, page } = hand;
    const window = leavesOut(hand) ? WINDOW : query.limit;
    let place = from;
    for (let looked = window; ; looked += window) {
      const { rows, stops } = await this.#deps.rows.after(reader.applicationId, place, window + 1);
      const some = rows.slice(0, window);
      place = some.at(-1);
      const isThrough = await this.#look(
        some.filter(({ fundId }) => seesFund(reader, fundId)),
        hand,
      );
      page.enough = looked >= MOST_LOOKED_AT;
      if (isThrough && rows.length > window && !mayEnd(hand)) continue;
      if (!isBegun(page) && (page.stopped || stops)) throw stopped();
      return !isThrough || rows.length > window || stops;
    }
  }

  /** Takes what is asked for; false where it ends before one of the rows. */
  async #look(rows: readonly FeedRow[], { reader, query, page }: PageInHand): Promise<boolean> {
    const stream = query.code === undefined ? undefined : loanStream(reader.applicationId, query.code);
    const isAsked = (row: FeedRow): boolean =>
      (query.fundId === undefined || row.fundId === query.fundId) &&
      (stream === undefined || row.stream === stream);
    for (let at = 0; at < rows.length; at += READS_AT_ONCE) {
      if (isFull(page, query)) return false;
      const some = rows.slice(at, at + READS_AT_ONCE);
      const found = await Promise.all(some.map(async (row) => (isAsked(row) ? this.#read(row) : undefined)));
      for (const [index, row] of some.entries()) {
        if (isFull(page, query)) return false;
        const event = found[index];
        if (event) take(page, event, query);
        else if (isAsked(row)) page.stopped = true;
        else page.unread.push(row);
        if (page.stopped) return false;
      }
    }
    return true;
  }

  /** Undefined where it cannot be read. */
  async #read({ stream, revision }: FeedRow): Promise<PublicEvent | undefined> {
    try {
      const recorded = await this.#deps.events.at(stream, BigInt(revision));
      if (!recorded) throw new RangeError('it is not in the log');
      const [event] = await this.#deps.translator.translate([recorded]);
      if (!event) throw new RangeError('it is none that goes out');
      return event;
    } catch (error) {
      if (!isOfTheEvent(error)) throw error;
      const fields = { event: 'feed_stopped', stream, revision, reason: messageOf(error) };
      this.#deps.logger.error(fields, 'an event cannot be read: the feed of its application ends before it');
      return undefined;
    }
  }

  /** Of the last event looked at: what was left out unread is read for its id alone. */
  async #lastId({ unread, lastId }: Looking): Promise<string | undefined> {
    for (let tries = 0; tries < READS_AT_ONCE; tries++) {
      const row = unread.pop();
      if (!row) return lastId;
      const event = await this.#read(row);
      if (event) return event.eventId;
    }
    if (lastId === undefined) throw stopped();
    return lastId;
  }

  async #placeOf(reader: FeedReader, after: string): Promise<FeedPlace> {
    const recorded = await this.#recorded(reader, after);
    if (!recorded || ownerOf(recorded.stream) !== reader.applicationId) throw unknownAfter();
    const [event] = await this.#deps.translator.translate([recorded]).catch((error: unknown) => {
      throw isOfTheEvent(error) ? stopped(error) : error;
    });
    if (!event || !seesFund(reader, event.fundId)) throw unknownAfter();
    return { position: Number(numberOf(recorded.position)), revision: Number(recorded.revision) };
  }

  /** An index that follows the log may not have come as far as the feed. */
  async #recorded(reader: FeedReader, eventId: string): Promise<RecordedEvent | undefined> {
    const { byId, indexFollows, rows, sleep } = this.#deps;
    const aside = reader.aside ?? ((wait) => wait());
    for (let waited = 0; ; waited += LOOK_AGAIN_MS) {
      const index = indexFollows ? await rows.index(reader.applicationId) : 'whole';
      const recorded = await byId(eventId);
      if (recorded || index === 'whole') return recorded;
      if (index === 'holes') throw stopped();
      if (waited >= LONGEST_WAIT_MS) throw new ReadModelBehindError();
      await aside(() => sleep(LOOK_AGAIN_MS));
    }
  }
}

interface PageInHand {
  readonly reader: FeedReader;
  readonly query: FeedQuery;
  readonly page: Looking;
}

const leavesOut = ({ reader, query }: PageInHand): boolean =>
  [query.names, query.fundId, query.code, reader.onlyFundIds].some((filter) => filter !== undefined);

/** Among what is hidden a page does not end: it would have to name it, or say that there is more. */
const mayEnd = ({ reader, query, page }: PageInHand): boolean =>
  reader.signal?.aborted === true || (reader.onlyFundIds === undefined && isFull(page, query));

const isFull = ({ taken, read, enough, ...page }: Looking, { limit }: FeedQuery): boolean =>
  taken.length >= limit || read >= MOST_READ + limit || (enough && isBegun(page));

const isBegun = ({ lastId, unread }: Pick<Looking, 'lastId' | 'unread'>): boolean =>
  lastId !== undefined || unread.length > 0;

const take = (page: Looking, event: PublicEvent, { names }: FeedQuery): void => {
  [page.lastId, page.unread] = [event.eventId, []];
  page.read += 1;
  if (!names || (names as readonly string[]).includes(event.name)) page.taken.push(event);
};
