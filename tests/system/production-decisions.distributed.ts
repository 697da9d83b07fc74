import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Kafka, logLevel } from 'kafkajs';
import type { KafkaMessage, Producer } from 'kafkajs';
import { operationKey } from '../../application/publication/bus-message.ts';
import { TOPICS } from '../../application/publication/catalogue.ts';
import { DocumentValidators } from '../../application/schemas/document-validators.ts';
import { ApiClient, loanRequest } from '../support/api-client.ts';
import { linesOf } from '../support/desk-over.ts';
import { testKafka } from '../support/kafka/test-kafka.ts';
import type { TestKafka } from '../support/kafka/test-kafka.ts';
import { publishedTopics } from '../support/published-topics.ts';
import { RunningService } from '../support/running-service.ts';
import { until } from '../support/within.ts';

/** An administrator's system: writes decisions to the topic, reads what was refused and what happened. */
let cluster: TestKafka;
let prefix: string;
let kafka: Kafka;
let producer: Producer;
let service: RunningService;
let api: ApiClient;
let application: string;

beforeAll(async () => {
  cluster = await testKafka();
  prefix = cluster.prefix();
  kafka = new Kafka({ brokers: [...cluster.brokers], logLevel: logLevel.NOTHING });
  service = await RunningService.start({
    ENVIRONMENT: 'production',
    MASTER_KEY: randomBytes(32).toString('base64'),
    KAFKA_BROKERS: cluster.brokers.join(','),
    KAFKA_TOPIC_PREFIX: prefix,
  });
  const client = await service.createClient(randomUUID());
  application = client.application_id;
  api = new ApiClient(service.baseUrl, client);
  producer = kafka.producer();
  await producer.connect();
}, 300_000);
afterAll(async () => {
  await producer?.disconnect();
  await service?.stop();
  await cluster?.close();
});

const decision = (id: string, code: string, name: string, more: object = {}) => ({
  key: operationKey(application, code),
  value: JSON.stringify({
    decision_id: id,
    application_id: application,
    originator_proposal_code: code,
    decision: name,
    ...more,
  }),
});
const send = (...messages: { key: string; value: string }[]) =>
  producer.send({ topic: prefix + TOPICS.decisions, messages });
const disbursement = { disbursement_date: '2024-01-16', disbursed_value: 1672 };

/** Reads a topic from its beginning until it holds so many messages. */
const messagesOf = async (topic: string, count: number): Promise<readonly KafkaMessage[]> => {
  const consumer = kafka.consumer({ groupId: `${prefix}reader-${randomUUID()}` });
  const messages: KafkaMessage[] = [];
  await consumer.connect();
  try {
    await consumer.subscribe({ topic: prefix + topic, fromBeginning: true });
    await consumer.run({ eachMessage: async ({ message }) => void messages.push(message) });
    await until(() => messages.length >= count, `${count} messages on ${topic}`);
    return messages;
  } finally {
    await consumer.disconnect();
  }
};
const textOf = ({ value }: KafkaMessage): string => value?.toString() ?? '';
const fitting = (schema: string) => new DocumentValidators(publishedTopics()).component(schema, 'message');

describe('decisions on a topic', () => {
  test('take operations through their lives; refused ones lie in the dead letter and hold nothing up', async () => {
    for (const code of ['OP-1', 'OP-2']) {
      const loan = loanRequest(api.fund, code, 2, { date_issued: '2024-01-15' });
      expect((await api.assign(loan)).status).toBe(201);
    }
    await send(
      decision('D-0', 'OP-1', 'sign_term'),
      { key: operationKey(application, 'OP-1'), value: 'no decision at all' },
      decision('D-1', 'OP-1', 'approve'),
      decision('D-1', 'OP-1', 'approve'),
      decision('D-2', 'OP-1', 'sign_term'),
      decision('D-3', 'OP-1', 'disburse', disbursement),
      decision('D-4', 'OP-2', 'reject', { reasons: [{ code: 'fraud', message: 'A forged invoice' }] }),
    );
    await api.untilStatus('OP-1', 'active');
    await api.untilStatus('OP-2', 'rejected');
    await send(decision('D-1', 'OP-2', 'approve'));
    const refused = (await messagesOf(TOPICS.decisionsDeadLetter, 3)).map((message) =>
      JSON.parse(textOf(message)),
    );
    expect(refused.map(({ decision_id, reason }) => `${decision_id} ${reason.code}`).sort()).toEqual([
      'D-0 operation_invalid_state',
      'D-1 idempotency_conflict',
      'undefined validation_error',
    ]);
    for (const one of refused) expect(fitting('RefusedDecision')(one)).toEqual([]);
  }, 300_000);

  test('are lines of the desk log, with what became of each', async () => {
    const { desk } = service.service.parts;
    const lines = async () =>
      (await linesOf(desk)).map(({ way, name, outcome, code, decision }) =>
        [way, name, outcome, code ?? '-', decision ?? '-'].join(' '),
      );
    const wanted = [
      ...['approve', 'sign_term', 'disburse'].map((one) => `topic administrator applied OP-1 ${one}`),
      'topic administrator already_applied OP-1 approve',
      'topic administrator applied OP-2 reject',
      'topic administrator refused - -',
      'topic administrator refused OP-1 sign_term',
      'topic administrator refused OP-2 approve',
    ];
    // The last one is written after its refusal lies in the dead letter; a batch that came twice leaves lines twice.
    let found: readonly string[] = [];
    for (let tries = 0; wanted.some((one) => !found.includes(one)) && tries < 600; tries += 1) {
      found = await lines();
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(found).toEqual(expect.arrayContaining(wanted));
  }, 300_000);

  test('cause the events that the topic of events tells, as they are described', async () => {
    const events = await messagesOf(TOPICS.events, 6);
    const told = events.map((message) => JSON.parse(textOf(message)));
    const of = (code: string) =>
      told.filter(({ originator_proposal_code: own }) => own === code).map(({ event }) => event);
    expect([of('OP-1'), of('OP-2')]).toEqual([
      ['loan_received', 'loan_approved', 'loan_term_signed', 'disbursement_completed'],
      ['loan_received', 'loan_rejected'],
    ]);
    for (const { key, headers } of events) {
      expect(key?.toString()).toMatch(`${application}.`);
      const texts = Object.fromEntries(
        Object.entries(headers ?? {}).map(([name, value]) => [name, String(value)]),
      );
      expect(fitting('EventHeaders')(texts)).toEqual([]);
    }
    expect(
      textOf(events.find(({ headers }) => String(headers?.['event']) === 'disbursement_completed')!),
    ).toContain('"disbursed_value":1672.00');
  }, 300_000);
});
