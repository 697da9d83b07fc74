import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import {
  newSecret,
  signedHeaders,
  signingKeyOf,
} from '../../../../infrastructure/webhooks/sending/webhook-sender.ts';

/** An interpreter that has the library; see .ci/run. */
const python = process.env['PYTHON'] ?? 'python3';

const PROGRAM = `
import json, sys
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

for sent in json.load(sys.stdin):
    try:
        Webhook(sent["secret"]).verify(sent["body"], sent["headers"])
        print("genuine")
    except WebhookVerificationError:
        print("forged")
`;

test('the library of PyPI verifies what the secret of the moment signed, before and after a rotation', () => {
  const body = '{"event":"installment_settled","settled_value":950.00,"text":"ação"}';
  const sent = Array.from({ length: 200 }, () => {
    const [before, after] = [newSecret(), newSecret()];
    const of = (secret: string, signedWith: string) => {
      const key = signingKeyOf(signedWith);
      const request = { event: 'loan_received', eventId: randomUUID(), attempt: 1, body: Buffer.from(body) };
      const headers = signedHeaders({ ...request, key }, String(Math.floor(Date.now() / 1000)));
      return { secret, body, headers };
    };
    return [of(before, before), of(after, after), of(before, after)];
  });
  const input = JSON.stringify(sent.flat());
  const { stdout, stderr } = spawnSync(python, ['-B', '-c', PROGRAM], { input, encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(stdout.trim().split('\n')).toEqual(sent.flatMap(() => ['genuine', 'genuine', 'forged']));
});
