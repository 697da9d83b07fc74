import { describe, expect, test } from '@jest/globals';
import { createDecipheriv, randomBytes } from 'node:crypto';
import { BrokenSealError } from '../../../application/ports/borrower-vault.ts';
import { openText, sealText } from '../../../infrastructure/security/aes-gcm.ts';

const key = Buffer.alloc(32, 7);

describe('a sealed text', () => {
  test.each(['', 'secret', 'ação 💰', 'x'.repeat(100_000)])('opens what it sealed', (text) => {
    expect(openText(key, sealText(key, text, 'webhook:1'), 'webhook:1')).toBe(text);
  });

  test('the same text never looks the same twice', () => {
    expect(sealText(key, 'secret', 'a')).not.toBe(sealText(key, 'secret', 'a'));
  });

  test('the envelope is AES-256-GCM with a 12-byte nonce and a 16-byte tag', () => {
    const bytes = Buffer.from(sealText(key, 'secret', 'a').slice('v1.'.length), 'base64url');
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12));
    decipher.setAAD(Buffer.from('v1|a'));
    decipher.setAuthTag(bytes.subarray(-16));
    const text = Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]).toString();
    expect(text).toBe('secret');
  });

  test('does not open in another context, or with another key', () => {
    const sealed = sealText(key, 'secret', 'webhook:1');
    expect(() => openText(key, sealed, 'webhook:2')).toThrow(BrokenSealError);
    expect(() => openText(randomBytes(32), sealed, 'webhook:1')).toThrow(BrokenSealError);
  });

  test('any changed character is noticed', () => {
    const sealed = sealText(key, 'secret', 'a');
    for (let index = 0; index < sealed.length; index += 1) {
      const changed = sealed.slice(0, index) + (sealed[index] === 'A' ? 'B' : 'A') + sealed.slice(index + 1);
      expect(() => openText(key, changed, 'a')).toThrow(BrokenSealError);
    }
  });

  test.each(['', 'v1.', 'v1.AAAA', 'v2.' + 'A'.repeat(80), 'not sealed', 'v1.' + '$'.repeat(80)])(
    'text that was never sealed is refused: %j',
    (text) => {
      expect(() => openText(key, text, 'a')).toThrow(BrokenSealError);
    },
  );

  test('the refusal names the context and nothing of the content', () => {
    const sealed = sealText(key, 'top secret', 'webhook:1');
    expect(() => openText(key, sealed, 'webhook:2')).toThrow(/^the sealed text of webhook:2 does not open/);
  });
});
