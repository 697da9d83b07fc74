import { promisify } from 'node:util';
import { zstdDecompress } from 'node:zlib';
import kafkajs from 'kafkajs';

const FIRST_BYTES = 65_536;

/** What is read of compressed bytes, from their beginning on. */
class Packed {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isOver(): boolean {
    return this.#at >= this.#bytes.length;
  }

  /** @throws RangeError when there are fewer */
  take(length: number): Buffer {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new RangeError('compressed bytes end too soon');
    const taken = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }

  byte(): number {
    return this.take(1)[0]!;
  }

  /** The least significant byte first. */
  number(bytes: number): number {
    return this.take(bytes).readUIntLE(0, bytes);
  }
}

/** What has been unpacked; much of what follows repeats a part of it. */
class Unpacked {
  #bytes = Buffer.allocUnsafe(FIRST_BYTES);
  #length = 0;

  get contents(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  add(bytes: Buffer): void {
    this.#makeRoomFor(bytes.length);
    this.#length += bytes.copy(this.#bytes, this.#length);
  }

  /** From so far back on; may run into what it adds itself. */
  repeat(back: number, length: number): void {
    if (back < 1 || back > this.#length) throw new RangeError('compressed bytes repeat what is not there');
    this.#makeRoomFor(length);
    const end = this.#length + length;
    for (; this.#length < end; this.#length++) this.#bytes[this.#length] = this.#bytes[this.#length - back]!;
  }

  #makeRoomFor(more: number): void {
    const needed = this.#length + more;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(2 * needed);
    this.contents.copy(larger);
    this.#bytes = larger;
  }
}

/** A length that goes on in further bytes as long as they are full. */
const lz4Length = (packed: Packed, short: number): number => {
  let length = short;
  if (short < 15) return length;
  for (let more = 255; more === 255; length += more) more = packed.byte();
  return length;
};

const lz4Block = (packed: Packed, unpacked: Unpacked): void => {
  while (!packed.isOver) {
    const token = packed.byte();
    unpacked.add(packed.take(lz4Length(packed, token >> 4)));
    // The last part of a block repeats nothing.
    if (packed.isOver) return;
    const back = packed.number(2);
    unpacked.repeat(back, lz4Length(packed, token & 15) + 4);
  }
};

const LZ4_MAGIC = 0x184d2204;
const [CONTENT_SIZE, BLOCK_CHECKSUMS] = [0x08, 0x10];
const LZ4_STORED = 0x80000000;

/** A frame; its checksums are left to those of Kafka and of the connection. */
const lz4 = (bytes: Buffer): Buffer => {
  const [packed, unpacked] = [new Packed(bytes), new Unpacked()];
  if (packed.number(4) !== LZ4_MAGIC) throw new RangeError('no frame of LZ4');
  const flags = packed.byte();
  // How large blocks may be, how large the contents are, and a checksum of the header.
  packed.take(1 + (flags & CONTENT_SIZE ? 8 : 0) + 1);
  for (let size = packed.number(4); size !== 0; size = packed.number(4)) {
    const block = packed.take(size % LZ4_STORED);
    if (size >= LZ4_STORED) unpacked.add(block);
    else lz4Block(new Packed(block), unpacked);
    if (flags & BLOCK_CHECKSUMS) packed.take(4);
  }
  return unpacked.contents;
};

const snappyBlock = (packed: Packed, unpacked: Unpacked): void => {
  // How long it will be.
  while (packed.byte() >= 0x80);
  while (!packed.isOver) {
    const tag = packed.byte();
    const [kind, rest] = [tag & 3, tag >> 2];
    if (kind === 0) unpacked.add(packed.take(1 + (rest < 60 ? rest : packed.number(rest - 59))));
    else if (kind === 1) unpacked.repeat(((rest >> 3) << 8) + packed.byte(), 4 + (rest & 7));
    else unpacked.repeat(packed.number(kind === 2 ? 2 : 4), 1 + rest);
  }
};

const FRAMED_SNAPPY = Buffer.from('\x82SNAPPY\0', 'latin1');

/** Clients in Java put blocks into a frame, others write a single one without. */
const snappy = (bytes: Buffer): Buffer => {
  const [packed, unpacked] = [new Packed(bytes), new Unpacked()];
  if (!bytes.subarray(0, FRAMED_SNAPPY.length).equals(FRAMED_SNAPPY)) snappyBlock(packed, unpacked);
  else {
    // Two numbers of versions follow.
    packed.take(FRAMED_SNAPPY.length + 8);
    while (!packed.isOver) snappyBlock(new Packed(packed.take(packed.take(4).readUInt32BE())), unpacked);
  }
  return unpacked.contents;
};

const zstd = promisify(zstdDecompress);

const compress = (): never => {
  throw new Error('what this service sends is not compressed');
};

/** kafkajs reads gzip alone, and a consumer that meets anything else gets no further: brokers and those who decide compress as they like. */
export const readEveryCompression = (): void => {
  const { CompressionCodecs: codecs, CompressionTypes: types } = kafkajs;
  codecs[types.Snappy] = () => ({ compress, decompress: async (bytes: Buffer) => snappy(bytes) });
  codecs[types.LZ4] = () => ({ compress, decompress: async (bytes: Buffer) => lz4(bytes) });
  codecs[types.ZSTD] = () => ({ compress, decompress: (bytes: Buffer) => zstd(bytes) });
};
