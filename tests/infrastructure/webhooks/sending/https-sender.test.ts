import { createHmac } from 'node:crypto';
import { afterEach, describe, expect, test } from '@jest/globals';
import { DnsAddressGuard } from '../../../../infrastructure/webhooks/addresses/address-guard.ts';
import { HttpsSender } from '../../../../infrastructure/webhooks/sending/https-sender.ts';
import { webhookTrust } from '../../../../infrastructure/webhooks/sending/receiver-connections.ts';
import { signingKeyOf } from '../../../../infrastructure/webhooks/sending/webhook-sender.ts';
import { authority } from '../../../support/certificates.ts';
import { TlsReceiver, answer } from '../../../support/tls-receiver.ts';
import { attemptWith } from '../support/attempt-world.ts';

const BYTES = Buffer.from('key of the receiver, with +/ in it: \u00fb\u00ef\u00ff');
const SECRET = `whsec_${BYTES.toString('base64')}`;
const NOW = Date.parse('2026-06-20T12:00:00.900Z');
const TIMEOUT_MS = 10_000;

const closing: (() => Promise<void> | void)[] = [];

const ca = await authority();
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const newSender = (): HttpsSender => {
  const sender = new HttpsSender({
    guard: new DnsAddressGuard({ allowPrivateNetwork: true }),
    trust: webhookTrust(ca.caPem),
    timeoutMs: TIMEOUT_MS,
    now: () => NOW,
  });
  closing.push(() => sender.close());
  return sender;
};

const newReceiver = async (): Promise<TlsReceiver> => {
  const receiver = await TlsReceiver.start(await ca.leaf());
  closing.push(() => receiver.close());
  return receiver;
};

const request = (url: string, overrides = {}) => ({
  url,
  event: 'installment_settled',
  eventId: '3f0c0a52-95c5-4e35-8fd2-7a3c7e0d3c11',
  body: '{"settled_value":950.00,"text":"ação ✓"}',
  attempt: 3,
  key: signingKeyOf(SECRET),
  ...overrides,
});

const hmac = (text: string): string => createHmac('sha256', SECRET).update(text).digest('hex');
const standardHmac = (text: string): string => createHmac('sha256', BYTES).update(text).digest('base64');

describe('an attempt', () => {
  test('posts the body with exactly the headers of the interface, signed in all three ways', async () => {
    const receiver = await newReceiver();
    const { body, eventId } = request('');
    expect(await attemptWith(newSender(), request(receiver.url), TIMEOUT_MS)).toEqual({
      kind: 'delivered',
      status: 200,
    });
    const [received] = receiver.requests;
    expect([received!.method, received!.path]).toEqual(['POST', '/hooks?tenant=a%20b']);
    expect(received!.body.toString('utf8')).toBe(body);
    expect(received!.headers).toEqual({
      host: `localhost:${receiver.port}`,
      connection: 'keep-alive',
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      'x-svc-event': 'installment_settled',
      'x-svc-event-id': eventId,
      'x-svc-signature': hmac(body),
      'x-svc-signature-v2': hmac(`${eventId}.1781956800.${body}`),
      'x-svc-timestamp': '1781956800',
      'x-svc-delivery-attempt': '3',
      'webhook-id': eventId,
      'webhook-timestamp': '1781956800',
      'webhook-signature': `v1,${standardHmac(`${eventId}.1781956800.${body}`)}`,
    });
    expect(received!.rawHeaders).toEqual(expect.arrayContaining(['X-SVC-Event', 'X-SVC-Delivery-Attempt']));
  });

  test.each([200, 201, 204, 299])('answered with %i is delivered', async (status) => {
    const receiver = await newReceiver();
    receiver.answer = answer(status);
    expect(await attemptWith(newSender(), request(receiver.url), TIMEOUT_MS)).toEqual({
      kind: 'delivered',
      status,
    });
  });

  test.each([
    [400, 'http status 400'],
    [404, 'http status 404'],
    [410, 'http status 410'],
    [500, 'http status 500'],
    [301, 'http status 301: redirects are not followed'],
    [304, 'http status 304: redirects are not followed'],
  ])('answered with %i has failed', async (status, error) => {
    const receiver = await newReceiver();
    receiver.answer = answer(status);
    const outcome = await attemptWith(newSender(), request(receiver.url), TIMEOUT_MS);
    expect(outcome).toEqual({ kind: 'failed', status, reason: 'http_status', error });
  });

  test.each<[string, string | Buffer, string | undefined]>([
    ['text', 'recebido: ação', 'recebido: ação'],
    ['nothing', '', undefined],
    ['more than 2 KiB, cut in the middle of a character', `${'x'.repeat(2047)}ção`, 'x'.repeat(2047)],
    ['bytes that are no text', Buffer.from([0xff, 0x00, 0x41]), '\uFFFD\uFFFDA'],
  ])('answered with %s keeps its beginning', async (_name, body, kept) => {
    const receiver = await newReceiver();
    receiver.answer = (response) => void response.writeHead(200).end(body);
    const outcome = await attemptWith(newSender(), request(receiver.url), TIMEOUT_MS);
    expect(outcome).toEqual({ kind: 'delivered', status: 200, responseBody: kept });
  });

  test('accepts an answer of 64 KiB, and provisional answers before it', async () => {
    const receiver = await newReceiver();
    receiver.answer = (response) => {
      response.writeProcessing();
      response.writeHead(200).end('x'.repeat(64 * 1024));
    };
    expect(await attemptWith(newSender(), request(receiver.url), TIMEOUT_MS)).toMatchObject({
      kind: 'delivered',
    });
  });
});

describe('connections', () => {
  test('are kept alive and used again, one request at a time', async () => {
    const receiver = await newReceiver();
    const sender = newSender();
    for (let i = 0; i < 5; i++) await attemptWith(sender, request(receiver.url), TIMEOUT_MS);
    expect(receiver.connections).toBe(1);
    await Promise.all(
      Array.from({ length: 3 }, () => attemptWith(sender, request(receiver.url), TIMEOUT_MS)),
    );
    expect(receiver.connections).toBe(3);
    expect(receiver.requests).toHaveLength(8);
  });

  test('closed by the receiver while idle cost no attempt', async () => {
    const receiver = await newReceiver();
    const sender = newSender();
    await attemptWith(sender, request(receiver.url), TIMEOUT_MS);
    receiver.cut();
    expect(await attemptWith(sender, request(receiver.url), TIMEOUT_MS)).toEqual({
      kind: 'delivered',
      status: 200,
    });
    expect(receiver.connections).toBe(2);
  });

  test('used before and closed without a byte are replaced once within the attempt', async () => {
    const receiver = await newReceiver();
    const sender = newSender();
    await attemptWith(sender, request(receiver.url), TIMEOUT_MS);
    receiver.answer = (response, received, socket) => {
      if (received.connection === 1) socket.destroy();
      else response.end();
    };
    expect(await attemptWith(sender, request(receiver.url), TIMEOUT_MS)).toEqual({
      kind: 'delivered',
      status: 200,
    });
    const [, second, third] = receiver.requests;
    expect(third!.headers).toEqual(second!.headers);
    expect(receiver.connections).toBe(2);
  });

  test('closed without a byte again fail the attempt: nothing is sent a third time', async () => {
    const receiver = await newReceiver();
    const sender = newSender();
    await attemptWith(sender, request(receiver.url), TIMEOUT_MS);
    receiver.answer = (_response, _received, socket) => socket.destroy();
    const outcome = await attemptWith(sender, request(receiver.url), TIMEOUT_MS);
    expect(outcome).toMatchObject({ kind: 'failed', status: null, reason: 'connection_lost' });
    expect(receiver.requests).toHaveLength(3);
  });

  test('that were new and closed without a byte fail the attempt at once', async () => {
    const receiver = await newReceiver();
    receiver.answer = (_response, _received, socket) => socket.destroy();
    const outcome = await attemptWith(newSender(), request(receiver.url), TIMEOUT_MS);
    expect(outcome).toEqual({
      kind: 'failed',
      status: null,
      reason: 'connection_lost',
      error: 'the connection was closed before the answer was complete',
    });
    expect(receiver.requests).toHaveLength(1);
  });

  test('are cut when the sender closes, and the attempt is nobody’s', async () => {
    const receiver = await newReceiver();
    const sender = newSender();
    const sending = new Promise<void>((resolve) => {
      receiver.answer = () => resolve();
    });
    const outcome = attemptWith(sender, request(receiver.url), TIMEOUT_MS);
    await sending;
    sender.close();
    expect(await outcome).toEqual({ kind: 'abandoned' });
    expect(await attemptWith(sender, request(receiver.url), TIMEOUT_MS)).toEqual({ kind: 'abandoned' });
  });
});
