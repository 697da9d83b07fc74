import { afterAll, afterEach, beforeEach, expect, test } from '@jest/globals';
import { deadLetterText } from '../../../application/administrator/decisions.ts';
import type { RefusedDecision } from '../../../application/administrator/decisions.ts';
import { KafkaDecisionTopics } from '../../../infrastructure/kafka/kafka-decision-topics.ts';
import { ConsumerOffsets } from '../../../application/processors/consumer-offsets.ts';
import { testKafka } from '../../support/kafka/test-kafka.ts';
import { rawKafka, readTopic, writeRaw } from '../../support/kafka/topic-reader.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import { openServiceDatabase } from '../../support/sql/temporary-database.ts';
import { until } from '../../support/within.ts';

let prefix: string;
let opened: KafkaDecisionTopics[];

const [kafka, store] = await Promise.all([testKafka(), openServiceDatabase()]);
const outsider = rawKafka(kafka.brokers);
afterAll(() => Promise.all([kafka.close(), store.close()]));
beforeEach(() => {
  prefix = kafka.prefix();
  opened = [];
});
afterEach(() => Promise.all(opened.map((topics) => topics.close())));

const open = (): KafkaDecisionTopics => {
  const topics = new KafkaDecisionTopics({
    brokers: kafka.brokers,
    clientId: 'administrator',
    offsets: new ConsumerOffsets(store.database, new ManualClock()),
    logger: new RecordingLogger(),
    topicPrefix: prefix,
    topics: { partitions: 2, replication: 1 },
    consumer: { firstRetryMs: 5 },
  });
  opened.push(topics);
  return topics;
};

const topic = (): string => `${prefix}receivables.administrator-decisions`;

test('decisions arrive in order, again until they are handled, and a later run goes on behind them', async () => {
  const stop = new AbortController();
  const seen: string[] = [];
  let failures = 0;
  const run = open().run(async (decisions) => {
    if (failures++ < 3) throw new Error('the store is away');
    seen.push(...decisions.map(({ text, origin }) => `${text} from ${origin}`));
  }, stop.signal);
  await writeRaw(outsider, topic(), [{ value: 'first' }, { value: Buffer.from([0xff]) }, { value: null }]);
  await until(() => seen.length >= 3, 'three decisions');
  expect(seen).toEqual([`first from ${topic()}/0@0`, `\uFFFD from ${topic()}/0@1`, ` from ${topic()}/0@2`]);
  stop.abort();
  await run;

  const later: string[] = [];
  const again = new AbortController();
  const next = open().run(
    async (decisions) => void later.push(...decisions.map(({ text }) => text)),
    again.signal,
  );
  await writeRaw(outsider, topic(), [{ value: 'second' }]);
  await until(() => later.length > 0, 'the next decision');
  expect(later).toEqual(['second']);
  again.abort();
  await next;
});

test('what was handled does not come again because one that was sent much later has to be tried again', async () => {
  const texts = Array.from({ length: 200 }, (_, n) => `decision ${n}`);
  const last = texts.at(-1)!;
  let times = 0;
  let failures = 0;
  const topics = open();
  // The topic is made before anybody consumes, so that all of them come as one batch.
  await topics.put({ text: '', origin: '', reason: { code: '', message: '', details: [] }, refusedAt: '' });
  await writeRaw(
    outsider,
    topic(),
    texts.map((value) => ({ value })),
  );
  const stop = new AbortController();
  const run = topics.run(async (decisions) => {
    if (decisions.some(({ text }) => text === texts[0])) times += 1;
    if (decisions.some(({ text }) => text === last) && failures++ < 3) throw new Error('it is being decided');
  }, stop.signal);
  await until(() => failures > 3, 'the last decision');
  expect(times).toBe(1);
  stop.abort();
  await run;
});

test('a refused decision lies on its dead-letter topic, with its reason', async () => {
  const refused: RefusedDecision = {
    decisionId: 'decision-1',
    text: '{"decision":"approve"}',
    origin: 'receivables.administrator-decisions/3@17',
    reason: { code: 'operation_invalid_state', message: 'the operation was rejected', details: [] },
    refusedAt: '2026-01-15T12:00:00.000Z',
  };
  const topics = open();
  await topics.put(refused);
  await topics.put({ ...refused, text: '"'.repeat(600_000) });
  const letters = await readTopic(outsider, `${topic()}.dead-letter`);
  expect(letters[0]!.value?.toString()).toBe(deadLetterText(refused));
  expect(letters[0]!.headers).toEqual({
    schema_version: '1',
    origin: refused.origin,
    text: 'whole',
    decision_id: 'decision-1',
  });
  expect(letters[1]!.headers['text']).toBe('shortened');
});
