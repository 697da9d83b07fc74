const CUT_OFF = 'a message of EventStoreDB is cut off';

/**
 * The fields of one message of Protocol Buffers, one after the other. For what nearly all calls consist of: the generated classes cost
 * several times as much, an object with accessors for each message in a message, and a map for two words.
 */
export class Fields {
  readonly #bytes: Buffer;
  readonly #end: number;
  #at: number;
  #wireType = 0;
  #taken = true;

  constructor(bytes: Buffer, from = 0, end = bytes.length) {
    if (end > bytes.length) throw new RangeError(CUT_OFF);
    this.#bytes = bytes;
    this.#at = from;
    this.#end = end;
  }

  /** Number of the next field; 0 at the end. The one before is passed over where it was not taken. */
  next(): number {
    if (!this.#taken) this.#skip();
    if (this.#at >= this.#end) return 0;
    const tag = Number(this.number());
    this.#wireType = tag & 7;
    this.#taken = false;
    return tag >>> 3;
  }

  /** A number without a sign; a bigint where others would lose digits. */
  number(): number | bigint {
    this.#taken = true;
    let value = 0;
    let factor = 1;
    const from = this.#at;
    for (;;) {
      if (this.#at >= this.#end) throw new RangeError(CUT_OFF);
      const byte = this.#bytes[this.#at++]!;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return factor < 2 ** 46 ? value : this.#largeNumber(from);
      factor *= 128;
    }
  }

  message(): Fields {
    const { from, to } = this.#stretch();
    return new Fields(this.#bytes, from, to);
  }

  text(): string {
    const { from, to } = this.#stretch();
    return this.#bytes.toString('utf8', from, to);
  }

  #skip(): void {
    if (this.#wireType === 0) this.number();
    else if (this.#wireType === 2) this.#stretch();
    else this.#at += this.#wireType === 1 ? 8 : 4;
  }

  #stretch(): { readonly from: number; readonly to: number } {
    const length = Number(this.number());
    const from = this.#at;
    this.#at += length;
    if (this.#at > this.#end) throw new RangeError(CUT_OFF);
    return { from, to: this.#at };
  }

  #largeNumber(from: number): bigint {
    let value = 0n;
    for (let i = this.#at - 1; i >= from; i--) value = (value << 7n) | BigInt(this.#bytes[i]! & 0x7f);
    return BigInt.asUintN(64, value);
  }
}

/** The first two fields of a message of two numbers. */
export const pairIn = (fields: Fields): readonly [first: number | bigint, second: number | bigint] => {
  let [first, second]: [number | bigint, number | bigint] = [0, 0];
  for (let field = fields.next(); field !== 0; field = fields.next()) {
    if (field === 1) first = fields.number();
    else if (field === 2) second = fields.number();
  }
  return [first, second];
};

const hexadecimal = (bits: number | bigint): string => BigInt(bits).toString(16).padStart(16, '0');

/** Servers write ids as text when asked to, and otherwise as two numbers. */
export const idOf = (fields: Fields): string => {
  let text = '';
  for (let field = fields.next(); field !== 0; field = fields.next()) {
    if (field === 2) text = fields.text();
    else if (field === 1) text = structuredId(fields.message());
  }
  return text;
};

const structuredId = (fields: Fields): string => {
  const [most, least] = pairIn(fields);
  const digits = hexadecimal(most) + hexadecimal(least);
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
};

/** Fields of a message, written, in the pieces that follow each other. */
export type Pieces = readonly Uint8Array[];

const varint = (value: bigint): readonly number[] => {
  const bytes: number[] = [];
  for (let left = value; ; left >>= 7n) {
    if (left < 0x80n) return [...bytes, Number(left)];
    bytes.push(Number(left & 0x7fn) | 0x80);
  }
};

/** A number without a sign. */
export const numberField = (field: number, value: bigint): Uint8Array =>
  Uint8Array.from([field << 3, ...varint(value)]);

/** A message, a text or bytes; of no pieces, an empty one. */
export const field = (number: number, ...pieces: Pieces): Pieces => [
  head(
    number,
    pieces.reduce((sum, { length }) => sum + length, 0),
  ),
  ...pieces,
];

const head = (number: number, length: number): Uint8Array => {
  const tag = (number << 3) | 2;
  if (length < 0x80) return Uint8Array.of(tag, length);
  if (length < 0x4000) return Uint8Array.of(tag, (length & 0x7f) | 0x80, length >>> 7);
  return Uint8Array.from([tag, ...varint(BigInt(length))]);
};

export const textField = (number: number, text: string): Pieces => field(number, Buffer.from(text, 'utf8'));
