import { createHash, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { FilePlace } from '../../../infrastructure/documents/file-place.ts';
import { SealedDocumentStore } from '../../../infrastructure/documents/sealed-document-store.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { receivedFile } from '../../support/received-file.ts';
import { Keys } from './support/document-keys.ts';

const [FROM, TO] = ['loan-app.P-1', 'loan-app.P-2'];
const sha256 = (content: Uint8Array | string): string => createHash('sha256').update(content).digest('hex');

describe('a document that another operation takes over', () => {
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  let keys: Keys;
  let store: SealedDocumentStore;
  beforeEach(async () => {
    directory = await temporaryDirectory();
    keys = new Keys();
    store = new SealedDocumentStore(new FilePlace(directory.path), keys);
    await store.start();
  });
  afterEach(() => directory.remove());

  const stored = async (content: Buffer): Promise<string> => {
    await store.put(FROM, receivedFile('ccb.pdf', content));
    return sha256(content);
  };
  const sealedFile = (stream: string, digest: string): Promise<Buffer> =>
    readFile(join(directory.path, 'documents', sha256(stream), digest));

  test.each([
    ['nothing in it', Buffer.alloc(0)],
    ['a little', Buffer.from('%PDF-1.7 confidential')],
    ['several chunks', randomBytes(700_001)],
  ])('with %s is the same content under the other key, as often as it is copied', async (_, content) => {
    const digest = await stored(content);
    expect(await store.copy(FROM, TO, digest)).toBe(true);
    const first = await sealedFile(TO, digest);
    expect(await store.copy(FROM, TO, digest)).toBe(true);
    expect(first.equals(await sealedFile(TO, digest))).toBe(true);
    expect(first.equals(await sealedFile(FROM, digest))).toBe(false);
    const read = await store.get(TO, digest);
    expect(read !== undefined && content.equals(read)).toBe(true);
  });

  test('stays when the first operation is forgotten, which then has nothing more to give', async () => {
    const digest = await stored(Buffer.from('%PDF-1.7'));
    await store.copy(FROM, TO, digest);
    keys.keys.delete(FROM);
    expect(await store.get(TO, digest)).toBeDefined();
    expect(await store.copy(FROM, 'loan-app.P-3', digest)).toBe(false);
  });

  test('cannot be taken over when it was never there', async () => {
    expect(await store.copy(FROM, TO, 'ab'.repeat(32))).toBe(false);
    expect(keys.keys.size).toBe(0);
  });
});
