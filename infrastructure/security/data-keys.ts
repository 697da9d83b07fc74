import { randomBytes } from 'node:crypto';
import type { NamedKeys } from './wrapped-keys.ts';

const BYTES = 32;

/** Long-lived keys that the master key wraps: they stay the same when it is rotated. */
export const DATA_KEYS = {
  /** Of idempotency fingerprints and of the borrower index. */
  fingerprints: 'data:fingerprints',
  /** Of the seals over the log. */
  seals: 'data:log-seals',
  /** Signs anchors: a key pair. */
  anchors: 'data:anchor-signing',
} as const;

/** The key, made and durable when there was none. */
export const dataKey = async (keys: NamedKeys, name: string): Promise<Buffer> => {
  const text =
    (await keys.get(name)) ?? (await keys.putIfAbsent(name, randomBytes(BYTES).toString('base64url')));
  return Buffer.from(text, 'base64url');
};
