import { describe, expect, test } from '@jest/globals';
import { readConfiguration } from '../../../infrastructure/composition/configuration.ts';

const DATABASE = { DATABASE_URL: 'postgres://db/receivables' };
const STREAMS = { EVENTSTORE_URL: 'esdb://streams:2113' };
const KAFKA = { KAFKA_BROKERS: 'kafka:9092' };

const refusal = (roles: string, engines: Readonly<Record<string, string>>): string => {
  try {
    readConfiguration({ ROLES: roles, ...engines });
    return 'none';
  } catch (error) {
    return (error as Error).message;
  }
};

describe('roles in several processes', () => {
  test.each([
    ['all', {}],
    ['all', DATABASE],
    ['all', KAFKA],
    ['all', STREAMS],
    ['api', { ...DATABASE, ...STREAMS }],
    ['api,webhooks', { ...DATABASE, ...STREAMS, ...KAFKA }],
    ['projector,relay,scheduler', { ...DATABASE, ...STREAMS, ...KAFKA }],
    // The streams stay with one process, and so does the bus: only the sending of webhooks is elsewhere.
    ['api,projector,relay,scheduler', { ...DATABASE, ...KAFKA }],
    ['webhooks', { ...DATABASE, ...KAFKA }],
    ['relay,webhooks', { ...DATABASE, ...STREAMS }],
  ])('%s over %j can work', (roles, engines) => {
    expect(refusal(roles, engines)).toBe('none');
  });

  test.each([
    ['api', {}, 'DATABASE_URL, EVENTSTORE_URL'],
    ['api,projector,relay', {}, 'DATABASE_URL, EVENTSTORE_URL, KAFKA_BROKERS'],
    ['api', DATABASE, 'EVENTSTORE_URL'],
    ['api,projector', { ...STREAMS, ...KAFKA }, 'DATABASE_URL'],
    ['api,webhooks', { ...DATABASE, ...STREAMS }, 'KAFKA_BROKERS'],
    ['webhooks', DATABASE, 'KAFKA_BROKERS'],
    ['api,projector,relay,scheduler', DATABASE, 'KAFKA_BROKERS'],
  ])('%s over %j needs more: %s', (roles, engines, missing) => {
    const message = refusal(roles, engines);
    expect(message).toMatch(/^ROLES leaves [^\n]+$/);
    expect(message.endsWith(`: set ${missing}`)).toBe(true);
  });
});
