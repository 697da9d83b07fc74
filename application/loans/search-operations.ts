import type { Privacy } from '../privacy/privacy.ts';
import type { SqlDatabase } from '../sql/sql-database.ts';
import type { LoanSummary } from './loan-page.ts';
import { MOST_STREAMS, SqlOperationSearch } from './operation-search.ts';
import type { OperationQuery, SearchPlace } from './operation-search.ts';

export interface ListedOperation extends LoanSummary {
  /** Of the borrower, masked; null once it was forgotten, or where its key is missing. */
  readonly document: string | null;
}

export type OperationFilter = Omit<OperationQuery, 'streams' | 'after' | 'limit'> & {
  /** CPF or CNPJ of the borrower, without punctuation. */
  readonly document?: string;
};

const READ_AT_ONCE = 1_000;

/** Operations of every application by code, fund, state and day, and by their borrower: the index of borrowers says which those are. */
export class SearchOperations {
  readonly #rows: SqlOperationSearch;
  readonly #privacy: () => Privacy;

  constructor(database: SqlDatabase, privacy: () => Privacy) {
    this.#rows = new SqlOperationSearch(database);
    this.#privacy = privacy;
  }

  async page({
    after,
    limit,
    ...filter
  }: OperationFilter & Pick<OperationQuery, 'after' | 'limit'>): Promise<{
    readonly operations: readonly ListedOperation[];
    readonly next: SearchPlace | undefined;
  }> {
    const query = await this.#queryOf(filter);
    const { operations, next } = await this.#rows.find({ ...query, ...(after && { after }), limit });
    const documents = await Promise.all(operations.map((one) => this.#privacy().maskedDocument(one)));
    return { operations: operations.map((one, i) => ({ ...one, document: documents[i]! })), next };
  }

  async *every(filter: OperationFilter, signal: AbortSignal): AsyncGenerator<LoanSummary> {
    const query = { ...(await this.#queryOf(filter)), limit: READ_AT_ONCE };
    let page = await this.#rows.find(query);
    for (;;) {
      yield* page.operations;
      if (page.next === undefined || signal.aborted) return;
      page = await this.#rows.find({ ...query, after: page.next });
    }
  }

  /** Masked documents of their borrowers; null for one that was forgotten, or whose key is missing. */
  async documentsOf(streams: readonly string[]): Promise<ReadonlyMap<string, string | null>> {
    const { operations } = await this.#rows.find({ streams, limit: streams.length });
    const found = operations.map(
      async (one) => [one.stream, await this.#privacy().maskedDocument(one)] as const,
    );
    return new Map(await Promise.all(found));
  }

  async #queryOf({ document, ...filter }: OperationFilter): Promise<Omit<OperationQuery, 'after' | 'limit'>> {
    if (document === undefined) return filter;
    const streams = await this.#privacy().streamsOf(document);
    return { ...filter, streams: streams.slice(0, MOST_STREAMS) };
  }
}
