import { LOAN_STREAM_PREFIX } from '../command-handling/operation.ts';
import { LOAN_PROJECTION } from '../loans/loan-reader.ts';
import type { LogPosition } from '../ports/event-store.ts';
import { numberOf } from '../projecting/projected-event.ts';
import type { SqlDatabase } from '../sql/sql-database.ts';

/** Of an event in the log, as a number; events of one append may share it. */
export interface FeedPlace {
  readonly position: number;
  readonly revision: number;
}

export interface FeedRow extends FeedPlace {
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
