import { describe, expect, test } from '@jest/globals';
import { minInsyncReplicas, reassignment, shortfallsOf } from '../../../infrastructure/kafka/topic-check.ts';
import type { TopicFacts, TopicPlan } from '../../../infrastructure/kafka/topic-check.ts';

const plan: TopicPlan = { topic: 'p.events', partitions: 2, replication: 3, retentionMs: 1_000 };
const tools = { brokers: ['a:9092', 'b:9092'] };
const partition = (partitionId: number, replicas: number[]) => ({
  partitionErrorCode: 0,
  partitionId,
  leader: replicas[0]!,
  replicas,
  isr: replicas,
});
const sound: TopicFacts = {
  brokers: [1, 2, 3],
  partitions: [partition(0, [1, 2, 3]), partition(1, [2, 3, 1])],
  settings: new Map([
    ['min.insync.replicas', '2'],
    ['retention.ms', '1000'],
    ['cleanup.policy', 'delete'],
  ]),
};
const withSetting = (name: string, value: string): TopicFacts => ({
  ...sound,
  settings: new Map([...sound.settings, [name, value]]),
});
const told = (facts: TopicFacts, of = plan) =>
  shortfallsOf(of, facts, tools).map(({ setting, found, wanted, command }) => [
    setting,
    found,
    wanted,
    command,
  ]);

const KAFKA_CONFIGS =
  'kafka-configs.sh --bootstrap-server a:9092,b:9092 --alter --entity-type topics --entity-name p.events --add-config';

describe('a topic is compared with its plan', () => {
  test('one that has what it should, or more, is sound', () => {
    expect(told(sound)).toEqual([]);
    expect(told(withSetting('retention.ms', '-1'))).toEqual([]);
    expect(told(sound, { ...plan, replication: 2, partitions: 1, retentionMs: 10 })).toEqual([]);
  });

  test('settings that the brokers do not tell are not judged', () => {
    expect(told({ ...sound, settings: new Map() })).toEqual([]);
  });

  test.each([
    ['min.insync.replicas', '1', ['1', '2', `${KAFKA_CONFIGS} min.insync.replicas=2`]],
    ['retention.ms', '999', ['999 ms', '1000 ms', `${KAFKA_CONFIGS} retention.ms=1000`]],
    ['cleanup.policy', 'compact', ['compact', 'delete', `${KAFKA_CONFIGS} cleanup.policy=delete`]],
  ])('%s=%s is told with the command that mends it', (setting, value, rest) => {
    expect(told(withSetting(setting, value))).toEqual([[setting, ...rest]]);
  });

  test('for ever is longer than any time', () => {
    expect(told(sound, { ...plan, retentionMs: -1 })).toEqual([
      ['retention.ms', '1000 ms', 'for ever', `${KAFKA_CONFIGS} retention.ms=-1`],
    ]);
  });

  test('too few partitions are mended in two steps', () => {
    const command =
      'kafka-topics.sh --bootstrap-server a:9092,b:9092 --alter --topic p.events --partitions 12 && receivables topics accept-partitions p.events';
    expect(told(sound, { ...plan, partitions: 12 })).toEqual([['partitions', '2', '12', command]]);
  });

  test('too few copies of any partition are mended by a whole reassignment, which keeps those that are there', () => {
    const facts = { ...sound, partitions: [partition(1, [3]), partition(0, [2, 1, 3])] };
    const json =
      '{"version":1,"partitions":[{"topic":"p.events","partition":0,"replicas":[2,1,3]},{"topic":"p.events","partition":1,"replicas":[3,1,2]}]}';
    expect(reassignment(plan, facts)).toBe(json);
    expect(told(facts)).toEqual([
      [
        'replication_factor',
        '1',
        '3',
        `echo '${json}' > p.events.json && kafka-reassign-partitions.sh --bootstrap-server a:9092,b:9092 --reassignment-json-file p.events.json --execute`,
      ],
    ]);
  });

  test('where brokers ask for a user, the commands say where it stands', () => {
    const [shortfall] = shortfallsOf(plan, withSetting('retention.ms', '1'), {
      ...tools,
      sasl: { mechanism: 'plain', username: 'u', password: 'p' },
    });
    expect(shortfall?.command).toContain(' --command-config client.properties --alter ');
  });

  test('one copy may be away, and of one copy none', () => {
    expect([1, 2, 3, 5].map(minInsyncReplicas)).toEqual([1, 1, 2, 4]);
  });
});
