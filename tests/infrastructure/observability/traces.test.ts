import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { loanRequest } from '../../support/api-client.ts';
import type { ApiClient } from '../../support/api-client.ts';
import { OtlpCollector } from '../../support/otlp-collector.ts';
import type { CollectedSpan } from '../../support/otlp-collector.ts';
import { RunningService } from '../../support/running-service.ts';
import { settlement } from '../../support/api-client.ts';
import { trustedReceiver } from '../../support/trusted-receiver.ts';
import type { TrustedReceiver } from '../../support/trusted-receiver.ts';
import type { WebhookReceiver } from '../../support/webhook-receiver.ts';

const CALLER = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };

let trusted: TrustedReceiver;
let collector: OtlpCollector;
let receiver: WebhookReceiver;
let service: RunningService;
let api: ApiClient;

beforeAll(async () => {
  trusted = await trustedReceiver();
  ({ receiver } = trusted);
  collector = await OtlpCollector.start();
  service = await RunningService.start({
    ...trusted.settings,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
  });
  api = await service.client();
  const registered = await api.call('POST', '/webhook', { url: receiver.url, events: ['*'] });
  expect(registered.status).toBe(200);
  expect((await api.assign(loanRequest(api.fund, 'T-1'))).status).toBe(201);
  await api.untilStatus('T-1', 'active');
});
afterAll(async () => {
  await service?.stop();
  await trusted?.close();
  await collector?.close();
});

const settle = async (installment: string, headers: Record<string, string> = {}): Promise<string> => {
  const response = await fetch(`${service.baseUrl}/installment/settle`, {
    method: 'POST',
    headers: { authorization: `Bearer ${await api.token()}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(settlement('T-1', installment, 950)),
  });
  expect(response.status).toBe(200);
  return response.headers.get('x-request-id')!;
};
const traceOf = (requestId: string): CollectedSpan[] =>
  collector.spans.filter(({ traceId }) => traceId === requestId.replaceAll('-', ''));
const namesFrom = (spans: readonly CollectedSpan[], last: CollectedSpan): string[] => {
  const parent = spans.find(({ spanId }) => spanId === last.parentSpanId);
  return parent ? [...namesFrom(spans, parent), last.name] : [last.name];
};

describe('traces', () => {
  test('one settlement is one trace, from its request to the arrival of its webhook, found by the request id', async () => {
    const requestId = await settle('001');
    await collector.until(
      () => traceOf(requestId).some(({ name }) => name.startsWith('webhook ')),
      'delivery',
    );
    await collector.until(() => traceOf(requestId).some(({ name }) => name === 'append'), 'append');
    const spans = traceOf(requestId);
    const named = (name: string): CollectedSpan => spans.find((span) => span.name === name)!;

    expect(namesFrom(spans, named('append'))).toEqual(['settleInstallment', 'command', 'append']);
    expect(namesFrom(spans, named('webhook installment_settled'))).toEqual([
      'settleInstallment',
      'relay to the event bus',
      'webhook installment_settled',
    ]);
    expect(namesFrom(spans, named('consume by webhooks'))).toEqual([
      'settleInstallment',
      'relay to the event bus',
      'consume by webhooks',
    ]);
    expect(named('settleInstallment').attributes['http.response.status_code']).toBe(200);
    const eventId = named('webhook installment_settled').attributes['receivables.event_id'];
    expect(named('append').attributes['receivables.event_ids']).toBe(eventId);
    expect(receiver.arrivals.some((arrival) => arrival.eventId === eventId)).toBe(true);
  });

  test("the caller's own span is linked, and a header that is none changes nothing", async () => {
    const requestId = await settle('002', {
      traceparent: `00-${CALLER.traceId}-${CALLER.spanId}-01`,
    });
    const other = await settle('003', { traceparent: '00-nonsense-01' });
    await collector.until(
      () => [requestId, other].every((id) => traceOf(id).some(({ name }) => name === 'settleInstallment')),
      'both requests',
    );
    const linksOf = (id: string) => traceOf(id).find(({ name }) => name === 'settleInstallment')!.links;
    expect(linksOf(requestId)).toEqual([CALLER]);
    expect(linksOf(other)).toEqual([]);
  });

  test('decisions of the administrator have traces of their own, and webhooks in them', async () => {
    await collector.until(
      () => collector.spans.some(({ name }) => name === 'webhook disbursement_completed'),
      'the disbursement',
    );
    const delivery = collector.spans.find(({ name }) => name === 'webhook disbursement_completed')!;
    const spans = collector.spans.filter(({ traceId }) => traceId === delivery.traceId);
    expect(namesFrom(spans, delivery)).toEqual([
      'command',
      'relay to the event bus',
      'webhook disbursement_completed',
    ]);
  });

  test('the resource names the service; nothing about the borrower leaves', () => {
    expect(collector.resource).toMatchObject({
      'service.name': 'receivables-fund-service',
      'deployment.environment.name': 'test',
    });
    for (const personal of ['52998224725', 'Joana', 'joana@', '11988887777', 'Paulista', 'Bearer'])
      expect(collector.raw).not.toContain(personal);
  });
});
