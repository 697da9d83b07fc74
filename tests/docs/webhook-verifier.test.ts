import { spawnSync } from 'node:child_process';
import { describe, expect, test } from '@jest/globals';
import { WebhookRejectedError, verifyWebhook } from '../../docs/webhook-verifier/verify.mjs';
import {
  signatureOf,
  signingKeyOf,
  timedSignatureOf,
} from '../../infrastructure/webhooks/sending/webhook-sender.ts';
import { verifierFolder, verifierVectors as vectors } from '../support/verifier-vectors.ts';
import type { VerifierVector } from '../support/verifier-vectors.ts';

const verdict = ({ secret, body_base64, headers, now, tolerance_seconds }: VerifierVector): string => {
  const body = Buffer.from(body_base64, 'base64');
  const tolerance = tolerance_seconds === undefined ? {} : { toleranceSeconds: tolerance_seconds };
  try {
    return verifyWebhook({ body, headers }, { secret, now, ...tolerance });
  } catch (error) {
    if (error instanceof WebhookRejectedError) return error.reason;
    throw error;
  }
};
const expected = ({ accepted, headers, reason }: VerifierVector): string =>
  accepted ? headers['x-svc-event-id']! : reason!;

describe('the verifier for Node.js judges', () => {
  test.each(vectors)('$name', (vector) => expect(verdict(vector)).toBe(expected(vector)));

  test('a header that came twice as missing', () => {
    const [genuine] = vectors;
    const headers = { ...genuine!.headers, 'x-svc-signature': ['a', 'b'] };
    const body = Buffer.from(genuine!.body_base64, 'base64');
    expect(() => verifyWebhook({ body, headers }, { secret: genuine!.secret, now: genuine!.now })).toThrow(
      /missing/,
    );
  });

  test('no time as near enough where the tolerance is no number', () => {
    const { secret, now, headers, body_base64 } = vectors[0]!;
    const webhook = { body: Buffer.from(body_base64, 'base64'), headers };
    expect(() => verifyWebhook(webhook, { secret, now, toleranceSeconds: Number('5 min') })).toThrow(
      /too far/,
    );
  });

  test('with each secret of a list, and not without one', () => {
    const [genuine] = vectors;
    const { secret, now, headers } = genuine!;
    const webhook = { body: Buffer.from(genuine!.body_base64, 'base64'), headers };
    expect(verifyWebhook(webhook, { secrets: ['the next one', secret], now })).toBe(
      headers['x-svc-event-id'],
    );
    expect(() => verifyWebhook(webhook, { secrets: ['the next one'], now })).toThrow(WebhookRejectedError);
    for (const secrets of [[], ['']]) {
      expect(() => verifyWebhook(webhook, { secrets, now })).toThrow(TypeError);
    }
  });
});

test('the verifier in Python judges every vector the same', () => {
  const program = `
import base64, json, sys
from verify import WebhookRejected, verify_webhook
for v in json.load(open("test-vectors.json", encoding="utf-8"))["vectors"]:
    extra = {"tolerance_seconds": v["tolerance_seconds"]} if "tolerance_seconds" in v else {}
    try:
        arguments = (base64.b64decode(v["body_base64"]), v["headers"])
        first = verify_webhook(*arguments, v["secret"], now=v["now"], **extra)
        assert first == verify_webhook(*arguments, ["the next one", v["secret"]], now=v["now"], **extra)
        print(first)
    except WebhookRejected as rejected:
        print(rejected.reason)
no_text = {name: chr(0xDCFF) for name in ["x-svc-event-id", "x-svc-timestamp", "x-svc-signature", "x-svc-signature-v2"]}
try:
    verify_webhook(b"", no_text, "secret")
except WebhookRejected as rejected:
    print(rejected.reason)
`;
  const { status, stdout, stderr, error } = spawnSync('python3', ['-B', '-c', program], {
    cwd: verifierFolder,
    encoding: 'utf8',
  });
  if (error) throw new Error('this test needs python3 on the path', { cause: error });
  expect([status, stderr]).toEqual([0, '']);
  expect(stdout.trim().split('\n')).toEqual([...vectors.map(expected), 'wrong_signature']);
});

test('the service signs as the vectors say', () => {
  for (const { name, secret, body_base64, headers } of vectors.filter(({ accepted }) => accepted)) {
    const [body, key] = [Buffer.from(body_base64, 'base64'), signingKeyOf(secret)];
    const timed = timedSignatureOf(headers['x-svc-event-id']!, headers['x-svc-timestamp']!, body, key);
    expect([name, signatureOf(body, key), timed]).toEqual([
      name,
      headers['x-svc-signature'],
      headers['x-svc-signature-v2'],
    ]);
  }
});
