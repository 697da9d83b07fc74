import { createRequire } from 'node:module';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import kafkajs from 'kafkajs';
import { compressFrame } from 'lz4-napi';
import { compress } from 'snappy';
import { RecordingLogger } from '../../support/recording-logger.ts';
import { readEveryCompression } from '../../../infrastructure/kafka/compression.ts';

const logger = new RecordingLogger();
readEveryCompression(logger);
const { CompressionCodecs: codecs, CompressionTypes: types } = kafkajs;
const unpack = (type: number, packed: Buffer): Promise<Buffer> =>
  codecs[type as keyof typeof codecs]().decompress(packed);

const TEXT = 'installment_settled '.repeat(20);
const ZEROES = Buffer.alloc(64 * 1_048_576 + 1);

/** As Kafka's client in Java writes it: two numbers of versions, then each block behind its length. */
const framed = (...blocks: readonly Buffer[]): Buffer =>
  Buffer.concat([
    Buffer.from('\x82SNAPPY\0\0\0\0\x01\0\0\0\x01', 'latin1'),
    ...blocks.flatMap((block) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(block.length);
      return [length, block];
    }),
  ]);

/** Written by the programs of their formats, in shapes that Kafka's own client does not write. */
const PACKED = [
  [
    'a block of Snappy without a frame',
    types.Snappy,
    'kANMaW5zdGFsbG1lbnRfc2V0dGxlZCD+FAD+FAD+FAD+FAD+FADuFAA=',
  ],
  [
    'a frame of LZ4 with its size and checksums',
    types.LZ4,
    'BCJNGHxAkAEAAAAAAAC4IAAAAP8FaW5zdGFsbG1lbnRfc2V0dGxlZCAUAP9lUHRsZWQgqdM7qAAAAADd9LnK',
  ],
] as const;

test.each(PACKED)('%s is read, and refused wherever it ends too soon', async (_, type, base64) => {
  const bytes = Buffer.from(base64, 'base64');
  expect((await unpack(type, bytes)).toString()).toBe(TEXT);
  for (let length = 0; length < bytes.length; length++)
    await expect(unpack(type, bytes.subarray(0, length))).rejects.toThrow();
});

test('a frame of Snappy is read whole, and refused where a block of it ends too soon', async () => {
  const block = await compress(TEXT);
  const bytes = framed(block, block);
  expect((await unpack(types.Snappy, bytes)).toString()).toBe(TEXT.repeat(2));
  await expect(unpack(types.Snappy, bytes.subarray(0, -1))).rejects.toThrow('snappy: corrupt input');
});

const half = ZEROES.subarray(ZEROES.length / 2);
test.each([
  ['gzip', types.GZIP, () => gzipSync(ZEROES)],
  ['Snappy', types.Snappy, () => compress(ZEROES)],
  ['framed Snappy', types.Snappy, async () => framed(await compress(half), await compress(half))],
  ['LZ4', types.LZ4, () => compressFrame(ZEROES)],
  ['Zstandard', types.ZSTD, () => zstdCompressSync(ZEROES)],
])('a batch of %s that would be larger than 64 MiB is refused', async (_, type, packed) => {
  await expect(unpack(type, await packed())).rejects.toThrow('more than 67108864 bytes');
});

test('a second frame of LZ4 is not read: the bound is that of one', async () => {
  const frame = await compressFrame(TEXT);
  await expect(unpack(types.LZ4, Buffer.concat([frame, frame]))).rejects.toThrow('not a single frame');
});

test.each([
  ['gzip', types.GZIP, () => gzipSync(half)],
  ['Snappy', types.Snappy, () => compress(half)],
  ['LZ4', types.LZ4, () => compressFrame(half)],
  ['Zstandard', types.ZSTD, () => zstdCompressSync(half)],
])('a large batch of %s is read', async (_, type, packed) => {
  expect((await unpack(type, await packed())).equals(half)).toBe(true);
});

/** The library's own reading of an answer. */
const { decode } = createRequire(import.meta.url)('kafkajs/src/protocol/requests/fetch/v11/response.js') as {
  readonly decode: (answer: Buffer) => Promise<{
    readonly responses: readonly {
      readonly partitions: readonly {
        readonly messages: readonly { readonly offset: string; readonly value: Buffer }[];
      }[];
    }[];
  }>;
};

/** A batch as Kafka keeps it, packed with gzip. */
const batchOf = (records: number, record: Buffer): Buffer => {
  const packed = gzipSync(Buffer.alloc(records * record.length, record));
  const head = Buffer.alloc(61);
  head.writeBigInt64BE(40n, 0);
  head.writeInt32BE(49 + packed.length, 8);
  head[16] = 2;
  head.writeInt16BE(1, 21);
  head.writeInt32BE(records - 1, 23);
  head.writeInt32BE(records, 57);
  return Buffer.concat([head, packed]);
};

/** What a broker answers to a question for more, of partitions 0, 1 ... of one topic, as it lies behind its length and its number. */
const answerOf = (batches: readonly Buffer[]): Buffer => {
  const int32 = (value: number): Buffer => Buffer.from(Uint32Array.of(value).buffer).swap32();
  const partitions = batches.flatMap((batch, n) => [
    ...[int32(n), Buffer.alloc(2), Buffer.alloc(24), int32(0), int32(-1), int32(batch.length), batch],
  ]);
  const topics = [int32(1), Buffer.from([0, 1]), Buffer.from('t'), int32(batches.length), ...partitions];
  const answer = Buffer.concat([int32(7), Buffer.alloc(10), ...topics]);
  return Buffer.concat([Buffer.from('before it'), int32(answer.length), answer]).subarray(17);
};

// Attributes, time and place of 0; no key; a value of one byte; no headers.
const RECORD = Buffer.from([14, 0, 0, 0, 1, 2, 0x78, 0]);

test.each([
  [100_000, 100_000],
  [100_001, 0],
])(
  'of a batch of %d records %d are read, and the partition beside it in either case',
  async (records, read) => {
    const batches = [batchOf(1, RECORD), batchOf(records, RECORD), batchOf(1, RECORD)];
    const { responses } = await decode(answerOf(batches));
    expect(responses[0]!.partitions.map(({ messages }) => messages.length)).toEqual([1, read, 1]);
    const told = logger.lines.map(({ level, fields }) => ({ level, ...fields }));
    const place = { firstOffset: 40, lastOffset: records - 1 };
    if (read === 0) expect(told).toMatchObject([{ level: 'error', ...place, records }]);
  },
);

test('of a batch that would be too large each record says so at its place', async () => {
  const value = Buffer.alloc(33 * 1_048_576);
  // Their lengths stand before each: of all of it, and of the value.
  const large = Buffer.concat([
    Buffer.from([144, 128, 128, 33, 0, 0, 0, 1, 128, 128, 128, 33]),
    value,
    Buffer.of(0),
  ]);
  const { responses } = await decode(answerOf([batchOf(2, large), batchOf(1, RECORD)]));
  const [refused, beside] = responses[0]!.partitions.map(({ messages }) =>
    messages.map(({ offset, value: text }) => `${offset} ${text.toString()}`),
  );
  const why = 'left out: a compressed batch holds more than 67108864 bytes, so it is not unpacked';
  expect([refused, beside]).toEqual([[`40 ${why}`, `41 ${why}`], ['40 x']]);
});
