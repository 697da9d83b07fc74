import { randomBytes } from 'node:crypto';
import type { DocumentKey } from '../../../../infrastructure/documents/sealed-content.ts';

/** A key for each stream, which a test may look at, take away or put in another's place. */
export class Keys {
  readonly keys = new Map<string, DocumentKey>();

  /** The key of an operation whose borrower was sealed. */
  async key(stream: string): Promise<DocumentKey> {
    const key = this.keys.get(stream) ?? { id: randomBytes(8).toString('hex'), bytes: randomBytes(32) };
    this.keys.set(stream, key);
    return key;
  }

  async find(stream: string): Promise<DocumentKey | undefined> {
    return this.keys.get(stream);
  }
}
