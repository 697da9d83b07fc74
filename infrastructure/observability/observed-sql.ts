import type { SqlStore, StoreMetrics } from './metrics/store-metrics.ts';
import { overriding } from './observed-work.ts';

/** The calls of an SQL store that are watched; what they take and give is the store's affair. */
interface SqlCalls {
  read(query: never): Promise<unknown>;
  snapshot(queries: never): Promise<unknown>;
  transaction(statements: never, options?: never): Promise<unknown>;
}

/** Errors by which a store answers "no": the caller asked for them. */
const ANSWERS = new Set(['GuardFailedError', 'ConstraintError']);

/** Times transactions and counts calls that failed. */
export const observedSql = <Database extends SqlCalls>(
  database: Database,
  store: SqlStore,
  metrics: StoreMetrics,
): Database => {
  const counting = async <Result>(call: string, result: Promise<Result>): Promise<Result> => {
    try {
      return await result;
    } catch (error) {
      const { name } = error as Error;
      if (!ANSWERS.has(name)) metrics.sqlFailed(store, call, name);
      throw error;
    }
  };
  return overriding<SqlCalls>(database, {
    read: (query) => counting('read', database.read(query)),
    snapshot: (queries) => counting('snapshot', database.snapshot(queries)),
    transaction: async (statements, options) => {
      const startedAt = performance.now();
      const results = await counting('transaction', database.transaction(statements, options));
      metrics.transaction(store, (performance.now() - startedAt) / 1_000);
      return results;
    },
  }) as Database;
};
