import { CompiledQuery } from 'kysely';
import type { SqlDatabase, Statement } from './sql-database.ts';

type Engine = Pick<SqlDatabase, 'dialect'>;

const EXCLUSIVE = 'select pg_advisory_xact_lock(hashtextextended($1, 0))';
const SHARED = 'select pg_advisory_xact_lock_shared(hashtextextended($1, 0))';

/** SQLite has one writer at a time, so there is nothing to wait for. */
const lock = ({ dialect }: Engine, text: string, name: string): readonly Statement[] =>
  dialect === 'sqlite' ? [] : [{ query: CompiledQuery.raw(text, [name]) }];

/** Until its transaction ends, no other holds this name. What the next statements read is what the one before has left. */
export const alone = (engine: Engine, name: string): readonly Statement[] => lock(engine, EXCLUSIVE, name);

/** Any number hold the name like this at a time, but none while another holds it `alone`. */
export const notAlone = (engine: Engine, name: string): readonly Statement[] => lock(engine, SHARED, name);
