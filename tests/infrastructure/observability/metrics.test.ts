import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { loanRequest } from '../../support/api-client.ts';
import type { ApiClient } from '../../support/api-client.ts';
import { RunningService } from '../../support/running-service.ts';
import { freePort } from '../../support/service-process.ts';
import { trustedReceiver } from '../../support/trusted-receiver.ts';
import type { TrustedReceiver } from '../../support/trusted-receiver.ts';
import type { WebhookReceiver } from '../../support/webhook-receiver.ts';

const FOLLOWERS = ['loan-projector', 'relay', 'sandbox-administrator'] as const;

let trusted: TrustedReceiver;
let receiver: WebhookReceiver;
let service: RunningService;
let api: ApiClient;
let port: number;

beforeAll(async () => {
  trusted = await trustedReceiver();
  ({ receiver } = trusted);
  port = await freePort();
  service = await RunningService.start({
    METRICS_PORT: String(port),
    ...trusted.settings,
    WEBHOOK_RETRY_SCHEDULE: '1h',
  });
  api = await service.client();
});
afterAll(async () => {
  await service?.stop();
  await trusted?.close();
});

const scrape = async (): Promise<string> => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
/** Value of the series with this name and these labels; undefined when there is none. */
const valueIn = (
  text: string,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined => {
  const line = text
    .split('\n')
    .filter((one) => one.startsWith(`${name}{`) || one.startsWith(`${name} `))
    .find((one) => Object.entries(labels).every(([label, value]) => one.includes(`${label}="${value}"`)));
  return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ') + 1));
};
const until = async (holds: (text: string) => boolean): Promise<string> => {
  const deadline = Date.now() + 60_000;
  for (;;) {
    const text = await scrape();
    if (holds(text)) return text;
    if (Date.now() > deadline) throw new Error(text);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
};

describe('metrics', () => {
  test('count requests, commands, appends, followers and deliveries of what happened', async () => {
    const registered = await api.call('POST', '/webhook', { url: receiver.url, events: ['*'] });
    receiver.respond = ({ event }) => (event === 'installment_settled' ? 500 : 200);
    expect((await api.assign(loanRequest(api.fund, 'M-1'))).status).toBe(201);
    await api.untilStatus('M-1', 'active');
    expect((await api.settle('M-1', '001', 950)).status).toBe(200);
    expect((await api.settle('M-1', '001', 950)).status).toBe(200);
    expect((await api.settle('M-1', '404', 950)).status).toBe(400);
    expect((await fetch(`${service.baseUrl}/nothing-here/${randomUUID()}`)).status).toBe(404);

    const failed = { outcome: 'failed', reason: 'http_status' };
    const text = await until(
      (now) =>
        valueIn(now, 'receivables_webhook_attempts_total', failed) === 1 &&
        valueIn(now, 'receivables_webhook_subscriptions_waiting') === 1 &&
        FOLLOWERS.every((follower) => valueIn(now, 'receivables_follower_events_total', { follower })! >= 5),
    );
    const value = (name: string, labels?: Record<string, string>) => valueIn(text, name, labels);
    const settle = { operation: 'settleInstallment' };
    expect(value('receivables_http_requests_total', { ...settle, status: '200' })).toBe(2);
    expect(value('receivables_http_requests_total', { ...settle, status: '400' })).toBe(1);
    expect(value('receivables_http_request_duration_seconds_count', settle)).toBe(3);
    expect(value('receivables_http_requests_total', { operation: 'unmatched', status: '404' })).toBe(1);
    expect(value('receivables_commands_total', { role: 'client', outcome: 'stored' })).toBe(2);
    expect(value('receivables_commands_total', { role: 'client', outcome: 'replayed' })).toBe(1);
    expect(value('receivables_commands_total', { role: 'administrator', outcome: 'stored' })).toBe(3);
    expect(value('receivables_command_refusals_total', { code: 'installment_not_found' })).toBe(1);
    expect(value('receivables_event_store_appends_total', { outcome: 'stored' })).toBeGreaterThanOrEqual(5);
    expect(value('receivables_sql_transaction_duration_seconds_count', { store: 'service' })).toBeGreaterThan(
      0,
    );
    for (const follower of FOLLOWERS) {
      expect(value('receivables_follower_lag_seconds', { follower })).toBeLessThan(5);
    }
    expect(value('receivables_work_state', { work: 'loan-projector', state: 'running' })).toBe(1);
    expect(value('receivables_readiness_check', { check: 'event_store' })).toBe(1);
    const { webhook_id } = registered.body as { webhook_id: string };
    expect(value('receivables_webhook_oldest_waiting_seconds', { webhook_id })).toBeGreaterThanOrEqual(0);
    expect(value('receivables_webhook_delivery_latency_seconds_count')).toBeGreaterThanOrEqual(4);
    expect(value('receivables_overdue_sweeps_total', { outcome: 'done' })).toBeGreaterThan(0);
    expect(value('process_cpu_seconds_total')).toBeGreaterThan(0);
    expect(value('receivables_info', { environment: 'sandbox' })).toBe(1);
  });

  test('name no operation, no client and no borrower in any label', async () => {
    const text = await scrape();
    for (const secret of ['M-1', 'client_', 'Joana', '52998224725', api.fund])
      expect(text).not.toContain(secret);
  });

  test('are read with GET at one path only', async () => {
    const base = `http://127.0.0.1:${port}`;
    expect((await fetch(`${base}/`)).status).toBe(404);
    expect((await fetch(`${base}/metrics`, { method: 'POST' })).status).toBe(405);
    const answer = await fetch(`${base}/metrics`);
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  });

  test('a taken port costs the metrics, never the service', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const taken = (holder.address() as { port: number }).port;
    const second = await RunningService.start({ METRICS_PORT: String(taken) });
    try {
      expect((await fetch(`${second.baseUrl}/health/ready`)).status).toBe(200);
      expect(second.logger.lines.find(({ message }) => message.startsWith('no metrics'))).toMatchObject({
        level: 'warn',
        fields: { port: taken },
      });
    } finally {
      await second.stop();
      holder.close();
    }
  });
});

describe('lines of the log', () => {
  test('lead from a request to its events by the ids that they carry', () => {
    const fieldsOf = (message: string) =>
      service.logger.lines
        .filter((line) => line.message === message)
        .map(({ fields }) => fields as Record<string, unknown>);
    const request = fieldsOf('request answered').find(({ operation }) => operation === 'assignLoan')!;
    expect(request).toMatchObject({ status: 201, request_id: expect.any(String) });
    const stored = fieldsOf('events stored').find(
      ({ correlation_id }) => correlation_id === request['request_id'],
    )!;
    expect(stored).toMatchObject({ event_types: ['loan.received.v1'], revision: 0 });
    expect(receiver.arrivals.map(({ eventId }) => eventId)).toContain((stored['event_ids'] as string[])[0]);
  });
});
