import { promisify } from 'node:util';
import { unzip, zstdDecompress } from 'node:zlib';
import kafkajs from 'kafkajs';

/** Of one batch, unpacked. Brokers take 1 MiB of it packed as they are configured by default; a few of these bytes can stand for gigabytes. */
const MOST_BYTES = 67_108_864;

const requireFew = (bytes: number): void => {
  if (bytes > MOST_BYTES)
    throw new RangeError(`a compressed batch holds more than ${MOST_BYTES} bytes, so it is not unpacked`);
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

/** kafkajs reads gzip alone, however large it becomes, and a consumer that meets anything else gets no further: brokers and those who decide compress as they like. */
export const readEveryCompression = (): void => {
  const { CompressionCodecs: codecs, CompressionTypes: types } = kafkajs;
  codecs[types.GZIP] = () => ({ compress, decompress: ofZlib(unzip) });
  codecs[types.Snappy] = () => ({ compress, decompress: snappy });
  codecs[types.LZ4] = () => ({ compress, decompress: lz4 });
  codecs[types.ZSTD] = () => ({ compress, decompress: ofZlib(zstdDecompress) });
};
