import { randomBytes, randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import {
  newSecret,
  signedHeaders,
  signingKeyOf,
} from '../../../../infrastructure/webhooks/sending/webhook-sender.ts';

const SECRETS = 400;
const body = Buffer.from('{"event":"installment_settled","settled_value":950.00,"text":"ação"}');
const headersWith = (secret: string): Record<string, string> => {
  const request = { event: 'loan_received', eventId: randomUUID(), attempt: 1, body };
  return signedHeaders({ ...request, key: signingKeyOf(secret) }, String(Math.floor(Date.now() / 1000)));
};

test('what any new secret signs, the library of npm verifies with the secret as it was shown, and with no other', () => {
  for (let n = 0; n < SECRETS; n += 1) {
    const [secret, other] = [newSecret(), newSecret()];
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const headers = headersWith(secret);
    expect(new Webhook(secret).verify(body, headers)).toMatchObject({ event: 'installment_settled' });
    expect(() => new Webhook(other).verify(body, headers)).toThrow('No matching signature');
  }
});

test('an older secret signs with the bytes that it writes in the other alphabet of Base64', () => {
  for (let n = 0; n < SECRETS; n += 1) {
    const bytes = randomBytes(32);
    const headers = headersWith(`whsec_${bytes.toString('base64url')}`);
    expect(new Webhook(bytes, { format: 'raw' }).verify(body, headers)).toMatchObject({
      event: 'installment_settled',
    });
  }
});
