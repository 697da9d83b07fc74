import { describe, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { WebhookRejectedError, verifiedEvent } from '../../../clients/typescript/src/webhooks.ts';
import type { ReceivedWebhook, VerifyOptions } from '../../../clients/typescript/src/webhooks.ts';
import { verifierVectors as vectors } from '../../support/verifier-vectors.ts';

const [genuine] = vectors;

const verdict = (webhook: ReceivedWebhook, options: VerifyOptions): unknown => {
  try {
    return verifiedEvent(webhook, options);
  } catch (error) {
    if (error instanceof WebhookRejectedError) return error.reason;
    if (error instanceof SyntaxError) return 'genuine, and no JSON';
    throw error;
  }
};

describe('the vectors of the verifier in one file are judged the same', () => {
  test.each(vectors)('$name', ({ secret, body_base64, headers, now, tolerance_seconds, ...vector }) => {
    const body = Buffer.from(body_base64, 'base64');
    const options = {
      ...{ secret: ['the next one', secret], now },
      ...(tolerance_seconds !== undefined && { toleranceSeconds: tolerance_seconds }),
    };
    const signed = (): unknown => (body.length === 0 ? 'genuine, and no JSON' : JSON.parse(body.toString()));
    const expected = vector.accepted ? signed() : vector.reason;
    expect(verdict({ body, headers }, options)).toEqual(expected);
    expect(verdict({ body, headers: new Headers(headers) }, options)).toEqual(expected);
  });
});

test('names of headers are read in any case, and one that came twice is missing', () => {
  const { secret, now, headers, body_base64 } = genuine!;
  const body = Buffer.from(body_base64, 'base64').toString();
  const capital = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]),
  );
  expect(verdict({ body, headers: capital }, { secret, now })).toEqual(JSON.parse(body));
  const twice = { ...headers, 'x-svc-signature': ['a', 'b'] };
  expect(verdict({ body, headers: twice }, { secret, now })).toBe('missing_header');
});

test('no time is near enough where the tolerance or the clock is no number', () => {
  const { secret, now, headers, body_base64 } = genuine!;
  const webhook = { body: Buffer.from(body_base64, 'base64'), headers };
  expect(verdict(webhook, { secret, now, toleranceSeconds: NaN })).toBe('stale_timestamp');
  expect(verdict(webhook, { secret, now: NaN })).toBe('stale_timestamp');
});

test('without a secret nothing is judged', () => {
  const webhook = { body: '{}', headers: genuine!.headers };
  for (const secret of ['', [], ['']]) expect(() => verifiedEvent(webhook, { secret })).toThrow(TypeError);
});

describe('Standard Webhooks', () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const body = '{"event":"loan_received","event_id":"1"}';
  const now = 1_781_956_800;
  const signature = new Webhook(secret).sign('1', new Date(now * 1_000), body);
  const headers = { 'webhook-id': '1', 'webhook-timestamp': String(now), 'webhook-signature': signature };
  const judged = (changed: Record<string, string>, options: Partial<VerifyOptions> = {}) =>
    verdict({ body, headers: { ...headers, ...changed } }, { secret, now, scheme: 'standard', ...options });

  test('what its library signs is genuine, also in a list of signatures', () => {
    expect(judged({})).toEqual(JSON.parse(body));
    const listed = `v1,${Buffer.alloc(32).toString('base64')} v1a,else ${signature}`;
    expect(judged({ 'webhook-signature': listed })).toEqual(JSON.parse(body));
  });

  test('what is changed, old or signed otherwise is not', () => {
    expect(judged({ 'webhook-id': '2' })).toBe('wrong_signature');
    expect(judged({ 'webhook-signature': signature.replace('v1,', 'v2,') })).toBe('wrong_signature');
    expect(judged({ 'webhook-signature': 'v1,' })).toBe('wrong_signature');
    expect(judged({}, { secret: 'whsec_b3RoZXI=' })).toBe('wrong_signature');
    expect(judged({}, { now: now + 301 })).toBe('stale_timestamp');
    expect(verdict({ body, headers: genuine!.headers }, { secret, now, scheme: 'standard' })).toBe(
      'missing_header',
    );
    expect(() => judged({}, { secret: 'whsec_' })).toThrow(TypeError);
  });
});
