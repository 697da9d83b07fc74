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

export interface Column {
  readonly name: string;
  readonly decode: Decode;
}

export const columnOf = (field: { readonly name: string; readonly dataTypeID: number }): Column => ({
  name: field.name,
  decode: DECODERS.get(field.dataTypeID) ?? asText,
});

/** @throws RangeError for an integer beyond 2^53 */
export const rowOf = (
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
