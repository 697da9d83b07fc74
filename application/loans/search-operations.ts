import type { BusinessClock } from '../ports/clock.ts';
import type { Privacy } from '../privacy/privacy.ts';
import type { SqlDatabase } from '../sql/sql-database.ts';
import { withLateness } from './late-operations.ts';
import type { LoanRow } from './late-operations.ts';
import { MOST_STREAMS, SqlOperationSearch } from './operation-search.ts';
import type { OperationPage } from './operation-search.ts';
import type { OperationQuery } from './operation-query.ts';

export interface ListedOperation extends LoanRow {
  readonly document: string | null;
}

export type OperationSearch = Omit<OperationQuery, 'streams' | 'after' | 'limit'> & {
  readonly document?: string;
};

export type FoundOperations = Omit<OperationPage, 'operations'> & {
  readonly operations: readonly ListedOperation[];
};

interface Dependencies {
  readonly database: SqlDatabase;
  readonly clock: Pick<BusinessClock, 'today'>;
  readonly privacy: () => Privacy;
}

const READ_AT_ONCE = 1_000;

export class SearchOperations {
  readonly #rows: SqlOperationSearch;
  readonly #deps: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#rows = new SqlOperationSearch(dependencies.database);
    this.#deps = dependencies;
  }

  async page({
    after,
    limit,
    ...search
  }: OperationSearch & Pick<OperationQuery, 'after' | 'limit'>): Promise<FoundOperations> {
    const query = await this.#queryOf(search);
    const page = await this.#rows.find({ ...query, ...(after && { after }), limit, counted: true });
    const { database, clock, privacy } = this.#deps;
    const [operations, documents] = await Promise.all([
      withLateness(database, clock.today(), page.operations),
      Promise.all(page.operations.map((one) => privacy().maskedDocument(one))),
    ]);
    return { ...page, operations: operations.map((one, i) => ({ ...one, document: documents[i]! })) };
  }

  async *every(search: OperationSearch, signal?: AbortSignal): AsyncGenerator<LoanRow> {
    const { database, clock } = this.#deps;
    const query = { ...(await this.#queryOf(search)), limit: READ_AT_ONCE };
    let page = await this.#rows.find(query);
    for (;;) {
      yield* await withLateness(database, clock.today(), page.operations);
      if (page.next === undefined || signal?.aborted) return;
      const { sorting, next: after } = page;
      page = await this.#rows.find({ ...query, sorting, after });
      if (page.sorting !== sorting)
        throw new Error('more is late now than can be sorted; list the operations anew');
    }
  }

  /** Masked documents of their borrowers; null for one that was forgotten, or whose key is missing. */
  async documentsOf(streams: readonly string[]): Promise<ReadonlyMap<string, string | null>> {
    const { operations } = await this.#rows.find({ streams, limit: streams.length });
    const found = operations.map(
      async (one) => [one.stream, await this.#deps.privacy().maskedDocument(one)] as const,
    );
    return new Map(await Promise.all(found));
  }

  async #queryOf({ document, ...search }: OperationSearch): Promise<Omit<OperationQuery, 'after' | 'limit'>> {
    if (document === undefined) return search;
    const streams = await this.#deps.privacy().streamsOf(document);
    return { ...search, streams: streams.slice(0, MOST_STREAMS) };
  }
}
