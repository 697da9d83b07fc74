import { createHash } from 'node:crypto';

const bytesOf = (uuid: string): Buffer => Buffer.from(uuid.replaceAll('-', ''), 'hex');

/** The UUID of version 5 of this name in this namespace (RFC 9562): the same whoever computes it, and whenever. */
export const derivedId = (namespace: string, name: string): string => {
  const hash = createHash('sha1').update(bytesOf(namespace)).update(name, 'utf8').digest().subarray(0, 16);
  hash[6] = (hash[6]! & 0x0f) | 0x50;
  hash[8] = (hash[8]! & 0x3f) | 0x80;
  const hex = hash.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
};
