import { expect, test } from '@jest/globals';
import kafkajs from 'kafkajs';
import { readEveryCompression } from '../../../infrastructure/kafka/compression.ts';

readEveryCompression();
const { CompressionCodecs: codecs, CompressionTypes: types } = kafkajs;

const TEXT = 'installment_settled '.repeat(20);

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

test.each(PACKED)('%s is read, and refused where it ends too soon', async (_, type, base64) => {
  const bytes = Buffer.from(base64, 'base64');
  const unpack = (packed: Buffer): Promise<Buffer> => codecs[type]().decompress(packed);
  expect((await unpack(bytes)).toString()).toBe(TEXT);
  await expect(unpack(bytes.subarray(0, 10))).rejects.toThrow('end too soon');
});
