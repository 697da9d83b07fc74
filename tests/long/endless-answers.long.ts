import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { loanRequest } from '../support/api-client.ts';
import { authority } from '../support/certificates.ts';
import { ServiceProcess } from '../support/service-process.ts';
import { TlsReceiver } from '../support/tls-receiver.ts';
import { WebhookReceiver } from '../support/webhook-receiver.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { trusting } from '../support/trusted-receiver.ts';

const WEBHOOKS = 20;
const OPERATIONS = 20;
const MOST_MORE_MB = 300;
const SOON_MS = 5_000;
const HINTS = Buffer.from('HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n'.repeat(2_000));

let service: ServiceProcess;
let flood: TlsReceiver;
let neighbour: WebhookReceiver;

beforeAll(async () => {
  const ca = await authority();
  neighbour = await WebhookReceiver.start(ca);
  flood = await TlsReceiver.start(await ca.leaf());
  flood.answer = (_response, _request, socket) => {
    const pour = (): void => {
      while (!socket.destroyed && socket.write(HINTS));
    };
    socket.on('drain', pour);
    pour();
  };
  service = await ServiceProcess.start(temporaryDirectory(), {
    SANDBOX_STEP: '10ms',
    ...trusting(ca),
    WEBHOOK_RETRY_SCHEDULE: Array.from({ length: 20 }, () => '1s').join(','),
  });
}, 300_000);

afterAll(async () => {
  await service?.end('SIGKILL');
  await neighbour?.close();
  await flood?.close();
});

/** Of the process, at its highest. */
const memoryMb = (): number => {
  const status = readFileSync(`/proc/${service.pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1_024;
};

test('interim answers without end cost no memory, and delay no webhook of others', async () => {
  const hostile = await service.client();
  const other = await service.client();
  await other.call('POST', '/webhook', { url: neighbour.url, events: ['loan_received'] });
  await other.assign(loanRequest(other.fund, 'WARM', 2));
  await neighbour.until(() => neighbour.eventsOf('WARM').length === 1, 'the first webhook');
  const before = memoryMb();
  for (let n = 0; n < WEBHOOKS; n++)
    await hostile.call('POST', '/webhook', { url: `${flood.url}&n=${n}`, events: ['*'] });
  for (let n = 0; n < OPERATIONS; n++) {
    expect((await hostile.assign(loanRequest(hostile.fund, `H-${n}`, 2))).status).toBe(201);
    const code = `N-${n}`;
    expect((await other.assign(loanRequest(other.fund, code, 2))).status).toBe(201);
    await neighbour.until(() => neighbour.eventsOf(code).length === 1, `the webhook of ${code}`, SOON_MS);
  }
  const { body } = await hostile.call('GET', '/webhook');
  const [{ webhook_id: webhookId }] = body.data as [{ webhook_id: string }];
  const { body: log } = await hostile.call('GET', `/webhook/${webhookId}/deliveries?status=retrying`);
  const [delivery] = log.data as { last_error: string }[];
  expect(delivery?.last_error).toBe('invalid answer: more than 10 interim answers');
  expect(flood.requests.length).toBeGreaterThan(WEBHOOKS);
  expect(memoryMb() - before).toBeLessThan(MOST_MORE_MB);
}, 300_000);
