import { expect, test } from '@jest/globals';
import { Partitioners } from 'kafkajs';

/**
 * murmur2 of these keys as Apache Kafka's own tests state it (UtilsTest.testMurmur2), so that every client of the cluster puts an
 * operation's events into the same partition.
 */
const vectors: readonly (readonly [key: string, murmur2: number])[] = [
  ['21', -973932308],
  ['foobar', -790332482],
  ['a-little-bit-long-string', -985981536],
  ['a-little-bit-longer-string', -1486304829],
  ['lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8', -58897971],
  ['abc', 479470107],
];

const metadata = Array.from({ length: 12 }, (_, partitionId) => ({
  partitionId,
  leader: 1,
  partitionErrorCode: 0,
  replicas: [1],
  isr: [1],
}));

test.each(vectors)('the key %s goes to the partition that its hash names', (key, hash) => {
  const partition = Partitioners.DefaultPartitioner()({
    topic: 'receivables.events',
    partitionMetadata: metadata,
    message: { key, value: '{}' },
  });
  expect(partition).toBe((hash & 0x7fffffff) % 12);
});
