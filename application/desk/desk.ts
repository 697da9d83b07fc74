import { deskLine } from '../../domain/desk/line.ts';
import type { DeskEntry, DeskLineWritten, DeskVisitor } from '../../domain/desk/line.ts';
import { loanStream } from '../command-handling/operation.ts';
import { decodeDeskEvent, readOrLeave } from '../event-codec/event-codec.ts';
import type { StoredFormats } from '../event-codec/stored-formats.ts';
import type { BusinessClock } from '../ports/clock.ts';
import type { EventStore } from '../ports/event-store.ts';
import type { Logger } from '../ports/logger.ts';
import { isProposalCode } from '../schemas/values.ts';
import type { SqlDatabase } from '../sql/sql-database.ts';
import { businessDayOf } from '../support/business-day.ts';
import { DESK_DAYS_STREAM, DeskStreams, deskStream } from './desk-streams.ts';
import type { DeskSessions } from './sessions.ts';

interface Dependencies {
  readonly sessions: DeskSessions;
  readonly events: Pick<EventStore, 'read' | 'head' | 'append'>;
  readonly readModel: Pick<SqlDatabase, 'read' | 'builder'>;
  readonly formats: Pick<StoredFormats, 'forReleaseWithoutDesk'>;
  readonly clock: BusinessClock;
  readonly pause: (ms: number) => Promise<void>;
  readonly logger: Pick<Logger, 'warn'>;
}

export interface DeskLogLine extends DeskLineWritten {
  readonly stream: string;
  readonly place: string;
}

export interface DeskQuery {
  readonly since?: string | undefined;
  readonly before?: string | undefined;
  readonly subject?: string | undefined;
  readonly fundId?: string | undefined;
  readonly code?: string | undefined;
  readonly newestFirst?: boolean;
}

type Known = ReadonlyMap<string, { readonly fundId?: string }>;

export class Desk {
  readonly sessions: DeskSessions;
  readonly #deps: Dependencies;
  readonly #streams: DeskStreams;

  constructor(dependencies: Dependencies) {
    this.sessions = dependencies.sessions;
    this.#deps = dependencies;
    this.#streams = new DeskStreams(dependencies);
  }

  /** @param session its id gives nobody rights; undefined: lines of the day @throws BusyError @throws StoreUnavailableError */
  async record(visitor: DeskVisitor, entries: readonly DeskEntry[], session?: string): Promise<void> {
    if (entries.length === 0 || (await this.#deps.formats.forReleaseWithoutDesk())) return;
    for (let start = 0; start < entries.length; start += AT_ONCE)
      await this.#write(visitor, entries.slice(start, start + AT_ONCE), session);
  }

  async #write(
    visitor: DeskVisitor,
    entries: readonly DeskEntry[],
    session: string | undefined,
  ): Promise<void> {
    const known = await this.#known(entries);
    await this.#streams.append(deskStream(visitor, session, this.#deps.clock.today()), visitor.name, (at) =>
      entries.map((entry) => deskLine(visitor, entry, { at, known: known.get(operationOf(entry) ?? '') })),
    );
  }

  async *lines(query: DeskQuery = {}): AsyncGenerator<DeskLogLine> {
    for (const [day, streams] of await this.#days(query)) {
      const lines: DeskLogLine[] = [];
      for (const stream of streams) lines.push(...(await this.#linesOf(stream, day, query)));
      lines.sort((one, other) => (one.place < other.place ? -1 : 1));
      yield* query.newestFirst ? lines.reverse() : lines;
    }
  }

  async #days({
    since,
    before,
    newestFirst,
  }: DeskQuery): Promise<readonly (readonly [string, ReadonlySet<string>])[]> {
    const [first, last] = [
      since && businessDayOf(since),
      before && businessDayOf(before.slice(0, INSTANT_LENGTH)),
    ];
    const days = new Map<string, Set<string>>();
    for (const event of await this.#read(DESK_DAYS_STREAM)) {
      if (event.type !== 'DeskDayBegun') continue;
      const { day, stream } = event;
      if ((first && day < first) || (last && day > last)) continue;
      const streams = days.get(day) ?? new Set();
      days.set(day, streams.add(stream));
    }
    const inOrder = [...days].sort(([one], [other]) => (one < other ? -1 : 1));
    return newestFirst ? inOrder.reverse() : inOrder;
  }

  async #linesOf(stream: string, day: string, query: DeskQuery): Promise<readonly DeskLogLine[]> {
    const { since = '', before } = query;
    return (await this.#read(stream)).flatMap(({ revision, ...event }) => {
      if (event.type !== 'DeskLineWritten' || event.at < since || businessDayOf(event.at) !== day) return [];
      if (!isWanted(event, query)) return [];
      const place = `${event.at} ${stream} ${String(revision).padStart(10, '0')}`;
      return before === undefined || place < before ? [{ ...event, stream, place }] : [];
    });
  }

  /** One that cannot be read keeps nobody from the others; an audit tells of it. */
  async #read(stream: string) {
    const { events, logger } = this.#deps;
    const recorded = (await events.read(stream)).events;
    return recorded.flatMap((one) => {
      const event = readOrLeave(decodeDeskEvent, one, (error) =>
        logger.warn(
          { stream, revision: String(one.revision), error: error.message },
          'a line of the desk log cannot be read',
        ),
      );
      return event ? [{ ...event, revision: one.revision }] : [];
    });
  }

  /** Those operations of the entries that exist, with their fund. One that no read model shows yet has its stream. */
  async #known(entries: readonly DeskEntry[]): Promise<Known> {
    const streams = new Set(entries.flatMap((entry) => operationOf(entry) ?? []));
    if (streams.size === 0) return new Map();
    const known = new Map<string, { readonly fundId?: string }>(await this.#funds([...streams]));
    for (const stream of streams)
      if (!known.has(stream) && (await this.#deps.events.head(stream)) !== 'no_stream') known.set(stream, {});
    return known;
  }

  /** A line is worth more than its fund: without read models it is written without. */
  async #funds(
    streams: readonly string[],
  ): Promise<readonly (readonly [string, { readonly fundId: string }])[]> {
    const { readModel } = this.#deps;
    try {
      const query = readModel.builder
        .selectFrom('loan')
        .select(['stream', 'fund_id'])
        .where('stream', 'in', streams);
      return (await readModel.read(query)).map((row) => [row.stream, { fundId: row.fund_id }]);
    } catch {
      return [];
    }
  }
}

/** Lines of one append: a store refuses what is too large. */
const AT_ONCE = 200;
const APPLICATION = /^[A-Za-z0-9_-]{1,64}$/;
const INSTANT_LENGTH = '2026-01-01T00:00:00.000Z'.length;

const operationOf = ({ applicationId, code }: DeskEntry): string | undefined =>
  applicationId === undefined ||
  code === undefined ||
  !APPLICATION.test(applicationId) ||
  !isProposalCode(code)
    ? undefined
    : loanStream(applicationId, code);

const isWanted = (line: DeskLineWritten, { subject, fundId, code }: DeskQuery): boolean =>
  (subject === undefined || line.subject === subject) &&
  (fundId === undefined || line.fundId === fundId) &&
  (code === undefined || line.code === code);
