import { LRUCache } from 'lru-cache';
import { DatabaseError } from 'pg';
import type { Connection, Submittable } from 'pg';

/** As it travels: text, bytes, or null. @throws TypeError for what no column of this schema holds */
export const bound = (value: unknown): string | Buffer | null => {
  if (value === null || typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  throw new TypeError(`cannot be stored: ${typeof value}`);
};

const integer = (text: string): number => {
  const value = Number(text);
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    throw new RangeError(`the integer ${text} is larger than numbers here can be`);
  }
  return value;
};

const float = Number;
// SQLite knows no truth values and gives 1 and 0, so PostgreSQL's are read as these.
const truth = (text: string): number => (text === 't' ? 1 : 0);
const bytes = (text: string): Buffer => Buffer.from(text.slice('\\x'.length), 'hex');

type Decode = (text: string) => unknown;

/** By the numbers of the types in the catalogue (pg_type.dat); everything else stays text. */
const DECODERS: ReadonlyMap<number, Decode> = new Map<number, Decode>([
  [16, truth],
  [17, bytes],
  [20, integer],
  [21, integer],
  [23, integer],
  [700, float],
  [701, float],
  // Sums of 64 bits.
  [1700, integer],
]);

const asText: Decode = (text) => text;

interface Column {
  readonly name: string;
  readonly decode: Decode;
}

const columnOf = (field: { readonly name: string; readonly dataTypeID: number }): Column => ({
  name: field.name,
  decode: DECODERS.get(field.dataTypeID) ?? asText,
});

/** @throws RangeError for an integer beyond 2^53 */
const rowOf = (
  columns: readonly Column[],
  fields: readonly (string | null)[],
): Readonly<Record<string, unknown>> => {
  const row: Record<string, unknown> = {};
  columns.forEach(({ name, decode }, index) => {
    const field = fields[index] ?? null;
    row[name] = field === null ? null : decode(field);
  });
  return row;
};

/** Of one connection: the server keeps a plan for each, so there must not be more and more of them. */
const KEPT = 400;

interface PreparedStatement {
  readonly name: string;
  /** What it answers; empty for no rows, and until the server has described it. */
  columns: readonly Column[];
}

/** The statements that one connection has parsed, by their text. */
export class PreparedStatements {
  readonly #dropped: string[] = [];
  readonly #known = new LRUCache<string, PreparedStatement>({
    max: KEPT,
    dispose: ({ name }) => this.#dropped.push(name),
  });
  #names = 0;

  find(text: string): PreparedStatement | undefined {
    return this.#known.get(text);
  }

  add(text: string): PreparedStatement {
    const statement = { name: `s${++this.#names}`, columns: [] };
    this.#known.set(text, statement);
    return statement;
  }

  /** To be called when it is unknown how far the server came with it: it is parsed anew under another name. */
  drop(text: string): void {
    this.#known.delete(text);
  }

  /** Names that the server may forget. To be closed at the begin of a batch, when nothing sent needs them any more. */
  takeDropped(): readonly string[] {
    return this.#dropped.splice(0);
  }
}

export interface BatchStatement {
  readonly text: string;
  readonly values: readonly ReturnType<typeof bound>[];
}

export interface BatchResult {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  /** Rows inserted, updated or deleted; 0 for a select. */
  readonly changes: number;
}

/** Why a batch ended without its results. */
export class BatchFailure extends Error {
  override readonly name = 'BatchFailure';
  /** `refused`: by the server, while it was at the statement `index`; `unsent`: it never saw a byte; `lost`: it is unknown what became of it. */
  readonly kind: 'refused' | 'unsent' | 'lost';
  readonly index: number;
  readonly code: string | undefined;
  /** The server ended the connection with its refusal. */
  readonly fatal: boolean;
  constructor(kind: BatchFailure['kind'], cause: Error, index: number, fatal = false) {
    super(cause.message || (cause as NodeJS.ErrnoException).code || 'connection lost', { cause });
    this.kind = kind;
    this.index = index;
    this.code = cause instanceof DatabaseError ? cause.code : undefined;
    this.fatal = fatal;
  }
}

/** What `pg` calls at a connection; its types describe an older one. */
interface Wire {
  readonly stream: { cork(): void; uncork(): void };
  parse(message: { name: string; text: string }): void;
  describe(message: { type: 'S'; name: string }): void;
  bind(message: { statement: string; values: ReturnType<typeof bound>[] }): void;
  execute(message: object): void;
  close(message: { type: 'S'; name: string }): void;
  sync(): void;
}

const CHANGED = /^(?:INSERT \d+|UPDATE|DELETE) (\d+)$/;

/**
 * Many statements and one Sync: one round trip, and one implicit transaction that ends at the Sync. After an error the server
 * skips everything up to there and rolls back. `pg` hands over what the server answers, message by message.
 */
export class Batch implements Submittable {
  readonly done: Promise<readonly BatchResult[]>;
  readonly #statements: readonly BatchStatement[];
  readonly #known: PreparedStatements;
  readonly #prepared: PreparedStatement[] = [];
  readonly #results: BatchResult[] = [];
  #rows: Readonly<Record<string, unknown>>[] = [];
  #connection: Connection | undefined;
  #undecodable: Error | undefined;
  #resolve!: (results: readonly BatchResult[]) => void;
  #reject!: (failure: Error) => void;

  constructor(statements: readonly BatchStatement[], known: PreparedStatements) {
    this.#statements = statements;
    this.#known = known;
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  submit(connection: Connection): void {
    const wire = connection as unknown as Wire;
    this.#connection = connection;
    wire.stream.cork();
    for (const name of this.#known.takeDropped()) wire.close({ type: 'S', name });
    for (const { text, values } of this.#statements) {
      this.#prepared.push(this.#known.find(text) ?? this.#parse(wire, text));
      wire.bind({ statement: this.#prepared.at(-1)!.name, values: [...values] });
      wire.execute({});
    }
    wire.sync();
    wire.stream.uncork();
  }

  #parse(wire: Wire, text: string): PreparedStatement {
    const statement = this.#known.add(text);
    wire.parse({ name: statement.name, text });
    wire.describe({ type: 'S', name: statement.name });
    return statement;
  }

  handleRowDescription({ fields }: { readonly fields: readonly Parameters<typeof columnOf>[0][] }): void {
    this.#prepared[this.#results.length]!.columns = fields.map(columnOf);
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    if (this.#undecodable) return;
    try {
      this.#rows.push(rowOf(this.#prepared[this.#results.length]!.columns, fields));
    } catch (error) {
      this.#undecodable = error as Error;
    }
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    this.#results.push({ rows: this.#rows, changes: Number(CHANGED.exec(text)?.[1] ?? 0) });
    this.#rows = [];
  }

  handleEmptyQuery(): void {
    this.handleCommandComplete({ text: '' });
  }

  handleReadyForQuery(): void {
    if (this.#undecodable) this.#reject(this.#undecodable);
    else this.#resolve(this.#results);
  }

  handleError(error: Error): void {
    const at = this.#results.length;
    // The server skipped what came after it, and said nothing about how far it came with this one.
    for (const { text } of this.#statements.slice(at)) this.#known.drop(text);
    const connection = this.#connection;
    if (connection && error instanceof DatabaseError) this.#refused(connection, error, at);
    else this.#reject(new BatchFailure(connection ? 'lost' : 'unsent', error, at));
  }

  /** The server says how grave it is in a language of its own; what tells is whether it is ready again after it, or gone. */
  #refused(connection: Connection, error: DatabaseError, at: number): void {
    const finish = (fatal: boolean): void => {
      connection.off('readyForQuery', ready).off('end', gone);
      this.#reject(new BatchFailure('refused', error, at, fatal));
    };
    const [ready, gone] = [() => finish(false), () => finish(true)];
    connection.on('readyForQuery', ready).on('end', gone);
  }
}

// Classes and codes of postgresql.org/docs/current/errcodes-appendix.html.
const CONSTRAINT_CLASS = '23';
/** Connection, resources, operator, system; the configuration file; a damaged page or index. */
const UNAVAILABLE_CLASSES = new Set(['08', '53', '57', '58', 'F0']);
const UNAVAILABLE = new Set(['25006', '25P03', '55P03', 'XX001', 'XX002']);
/** The server takes no writes any more: another has taken over, or is about to. */
const READ_ONLY = '25006';
/** A lock that was waited for briefly on purpose. */
const LOCKED = '55P03';
/** One of several that got in each other's way. */
const CROSSED = new Set(['40001', '40P01']);
/** What the connection had prepared does not fit the tables any more, or is gone. */
const STALE = new Set(['0A000', '26000', '42P05']);

/** Nothing was stored, and the same batch may well succeed at once. */
export const isWorthRepeating = (failure: unknown): boolean =>
  failure instanceof BatchFailure &&
  failure.code !== undefined &&
  (CROSSED.has(failure.code) || STALE.has(failure.code) || [READ_ONLY, LOCKED].includes(failure.code));

/** Other connections may have prepared the same before: it has to be parsed anew. */
export const isStale = (failure: unknown): boolean =>
  failure instanceof BatchFailure && STALE.has(failure.code ?? '');

export const isReadOnly = (failure: unknown): boolean =>
  failure instanceof BatchFailure && failure.code === READ_ONLY;

/** Whether the connection may serve others after this. */
export const isSpoilt = (failure: unknown): boolean =>
  failure instanceof BatchFailure &&
  (failure.kind !== 'refused' || failure.fatal || isStale(failure) || isReadOnly(failure));

export const isUnavailable = (code: string): boolean =>
  CROSSED.has(code) || UNAVAILABLE.has(code) || UNAVAILABLE_CLASSES.has(code.slice(0, 2));

export const isConstraint = (code: string): boolean => code.startsWith(CONSTRAINT_CLASS);
