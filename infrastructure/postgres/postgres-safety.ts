import { sql } from 'kysely';
import type { SqlDatabase } from '../../application/sql/sql-database.ts';

type Asked = Pick<SqlDatabase, 'dialect' | 'builder' | 'read'>;

/** What PostgreSQL says of a fail-over: whether a standby has what was committed. */
interface StandbySettings {
  /** `synchronous_standby_names`; empty when a commit waits for no standby. */
  readonly standbys: string;
  readonly commit: string;
}

const NO_WAIT: ReadonlySet<string> = new Set(['off', 'local']);

/** Undefined for an engine that has no standbys. Each session turns `off` and `local` into `on`, so this is what its commits do. */
export const standbySettings = async (database: Asked): Promise<StandbySettings | undefined> => {
  if (database.dialect !== 'postgres') return undefined;
  const [row] = await database.read(
    database.builder.selectNoFrom([
      sql<string>`current_setting('synchronous_standby_names')`.as('standbys'),
      sql<string>`current_setting('synchronous_commit')`.as('commit'),
    ]),
  );
  return row;
};

export const losesAtFailover = ({ standbys, commit }: StandbySettings): boolean =>
  standbys.trim() === '' || NO_WAIT.has(commit);

/** In the words of the operator who reads a log or `doctor`. */
export const NO_STANDBY =
  'PostgreSQL has no synchronous standby: a fail-over loses the last commits, keys of borrowers among them. Set synchronous_standby_names, ' +
  'or DATABASE_FAILOVER=managed where the provider keeps every commit (docs/operations.md)';

interface OldestTransaction {
  /** Age of the oldest transaction that keeps dead rows from being removed, in seconds; 0 when there is none. */
  readonly seconds: number;
  /** False when transactions of other users are hidden from this one. */
  readonly seesAll: boolean;
}

/** Undefined for an engine that keeps no dead rows. */
export const oldestTransaction = async (database: Asked): Promise<OldestTransaction | undefined> => {
  if (database.dialect !== 'postgres') return undefined;
  const ages = sql<number>`select floor(extract(epoch from max(clock_timestamp() - begun)))::bigint from (
      select xact_start as begun from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()
          and (backend_xmin is not null or backend_xid is not null)
      union all select prepared from pg_prepared_xacts where database = current_database()
    ) as transactions`;
  const [row] = await database.read(
    database.builder.selectNoFrom([
      sql<number>`coalesce((${ages}), 0)`.as('seconds'),
      sql<number>`pg_has_role(current_user, 'pg_read_all_stats', 'usage')`.as('sees_all'),
    ]),
  );
  return row && { seconds: Math.max(0, Number(row.seconds)), seesAll: row.sees_all === 1 };
};
