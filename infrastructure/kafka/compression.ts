import { promisify } from 'node:util';
import { unzip, zstdDecompress } from 'node:zlib';
import kafkajs from 'kafkajs';
import type { Logger } from '../../application/ports/logger.ts';
import { LineAMinute } from '../support/line-a-minute.ts';
import { pause } from '../support/time.ts';

/** Of one batch, unpacked. Brokers take 1 MiB of it packed as they are configured by default; a few of these bytes can stand for gigabytes. */
const MOST_BYTES = 67_108_864;

/** Of one batch. kafkajs makes arguments of a call of them, of which a stack takes some more; a megabyte can stand for a million. */
const MOST_RECORDS = 100_000;

class TooLargeError extends RangeError {}

const requireFew = (bytes: number): void => {
  if (bytes > MOST_BYTES)
    throw new TooLargeError(`a compressed batch holds more than ${MOST_BYTES} bytes, so it is not unpacked`);
};

const ofZlib = (unpack: typeof unzip | typeof zstdDecompress) => {
  const unpacked = promisify(unpack as typeof unzip);
  return (bytes: Buffer): Promise<Buffer> =>
    unpacked(bytes, { maxOutputLength: MOST_BYTES }).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ERR_BUFFER_TOO_LARGE') requireFew(Infinity);
      throw error;
    });
};

/** How long a block of Snappy will be stands before it, seven bits a byte. */
const snappyLength = (block: Buffer): number => {
  let length = 0;
  for (let [at, more] = [0, true]; more; at++) {
    const byte = block.readUInt8(at);
    length += (byte & 0x7f) * 2 ** (7 * at);
    more = byte >= 0x80;
  }
  return length;
};

const FRAMED_SNAPPY = Buffer.from('\x82SNAPPY\0', 'latin1');

/** Clients in Java put blocks into a frame, others write a single one without. */
const snappyBlocks = (bytes: Buffer): readonly Buffer[] => {
  if (!bytes.subarray(0, FRAMED_SNAPPY.length).equals(FRAMED_SNAPPY)) return [bytes];
  const blocks: Buffer[] = [];
  // Two numbers of versions follow.
  for (let at = FRAMED_SNAPPY.length + 8; at < bytes.length; at += 4 + blocks.at(-1)!.length)
    blocks.push(bytes.subarray(at + 4, at + 4 + bytes.readUInt32BE(at)));
  return blocks;
};

const snappy = async (bytes: Buffer): Promise<Buffer> => {
  const { uncompress } = await import('snappy');
  const blocks = snappyBlocks(bytes);
  requireFew(blocks.map(snappyLength).reduce((sum, length) => sum + length, 0));
  return Buffer.concat((await Promise.all(blocks.map((block) => uncompress(block)))) as Buffer[]);
};

const LZ4_MAGIC = 0x184d2204;
const LZ4 = { contentChecksum: 0x04, contentSize: 0x08, blockChecksums: 0x10 };
const LZ4_STORED = 0x80000000;
/** A byte of LZ4 stands for no more than so many. */
const LZ4_RATIO = 255;

/** No more than so many bytes are in a frame, by the lengths of its blocks. @throws RangeError it ends too soon, is none, or is not all */
const lz4Most = (bytes: Buffer): number => {
  if (bytes.readUInt32LE(0) !== LZ4_MAGIC) throw new RangeError('no frame of LZ4');
  const flags = bytes.readUInt8(4);
  const bytesIf = (flag: number, length: number): number => (flags & flag ? length : 0);
  const largestBlock = 4 ** (((bytes.readUInt8(5) >> 4) & 7) + 4);
  let most = 0;
  // Behind those two and the size, a byte of a checksum.
  let at = 6 + bytesIf(LZ4.contentSize, 8) + 1;
  for (let size = bytes.readUInt32LE(at); size !== 0; size = bytes.readUInt32LE(at)) {
    most += size >= LZ4_STORED ? size - LZ4_STORED : Math.min(largestBlock, size * LZ4_RATIO);
    at += 4 + (size % LZ4_STORED) + bytesIf(LZ4.blockChecksums, 4);
  }
  if (at + 4 + bytesIf(LZ4.contentChecksum, 4) !== bytes.length)
    throw new RangeError('not a single frame of LZ4');
  return most;
};

const lz4 = async (bytes: Buffer): Promise<Buffer> => {
  const { decompressFrame } = await import('lz4-napi');
  requireFew(lz4Most(bytes));
  return decompressFrame(bytes);
};

const compress = (): never => {
  throw new Error('what this service sends is not compressed');
};

/** A batch of records as Kafka 0.11 and later keep it: what its head says stands right before what is packed. */
const HEAD = { bytes: 61, length: 8, magic: 16, lastOffset: 23, records: 57 };
const BEHIND_LENGTH = 12;

/** Undefined where these bytes are of no such batch. */
const headOf = ({ buffer, byteOffset, length }: Buffer) => {
  if (byteOffset < HEAD.bytes) return undefined;
  const head = Buffer.from(buffer, byteOffset - HEAD.bytes, HEAD.bytes);
  if (head[HEAD.magic] !== 2 || head.readInt32BE(HEAD.length) !== HEAD.bytes - BEHIND_LENGTH + length)
    return undefined;
  return {
    firstOffset: Number(head.readBigInt64BE(0)),
    lastOffset: head.readInt32BE(HEAD.lastOffset),
    records: head.readInt32BE(HEAD.records),
  };
};

/** Numbers as they stand in records: the sign last, seven bits a byte. */
const varint = (value: number): Buffer => {
  const bytes: number[] = [];
  let left = value < 0 ? -2 * value - 1 : 2 * value;
  for (; left >= 0x80; left = Math.floor(left / 0x80)) bytes.push((left % 0x80) | 0x80);
  return Buffer.from([...bytes, left]);
};

/** As many records, at their places, each of which says why: whoever consumes them refuses each by itself, and goes on. */
const saying = (text: string, { records, lastOffset }: { records: number; lastOffset: number }): Buffer => {
  const value = Buffer.from(text);
  return Buffer.concat(
    Array.from({ length: records }, (_, n) => {
      const offset = varint(n === records - 1 ? lastOffset : n);
      // Attributes and time; no key; the value; no headers.
      const record = [Buffer.of(0, 0), offset, varint(-1), varint(value.length), value, Buffer.of(0)];
      return [varint(Buffer.concat(record).length), ...record];
    }).flat(),
  );
};

/** By this name kafkajs ends a partition's part of an answer before the batch, and takes the other partitions. */
class NotReadHere extends Error {
  override readonly name = 'KafkaJSPartialMessageError';
}

/** The same answer would come at once. */
const ASKED_AGAIN_MS = 1_000;

/** One batch keeps up nothing else: thrown, an error would end the session of all partitions, each time anew. */
const reading = (unpack: (bytes: Buffer) => Promise<Buffer>, refused: LineAMinute) => {
  const decompress = async (bytes: Buffer): Promise<Buffer> => {
    const head = headOf(bytes);
    if (head && head.records > MOST_RECORDS) {
      refused.note('records', head);
      await pause(ASKED_AGAIN_MS);
      throw new NotReadHere(`a batch of ${head.records} records`);
    }
    try {
      return await unpack(bytes);
    } catch (error) {
      if (!(error instanceof TooLargeError) || !head) throw error;
      return saying(`left out: ${error.message}`, head);
    }
  };
  return () => ({ compress, decompress });
};

const REFUSED =
  'a compressed batch holds too many records: its partition waits until whoever may removes them from the topic';

/** kafkajs reads gzip alone, however large it becomes, and a consumer that meets anything else gets no further: brokers and those who decide compress as they like. */
export const readEveryCompression = (logger: Logger): void => {
  const { CompressionCodecs: codecs, CompressionTypes: types } = kafkajs;
  const refused = new LineAMinute((fields) => logger.error({ ...fields, most: MOST_RECORDS }, REFUSED));
  codecs[types.GZIP] = reading(ofZlib(unzip), refused);
  codecs[types.Snappy] = reading(snappy, refused);
  codecs[types.LZ4] = reading(lz4, refused);
  codecs[types.ZSTD] = reading(ofZlib(zstdDecompress), refused);
};
