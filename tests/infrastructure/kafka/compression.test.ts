import { gzipSync, zstdCompressSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import kafkajs from 'kafkajs';
import { compressFrame } from 'lz4-napi';
import { compress } from 'snappy';
import { readEveryCompression } from '../../../infrastructure/kafka/compression.ts';

readEveryCompression();
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
