import { createHash, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { receivedFile } from '../../support/received-file.ts';
import { SealedDocumentStore } from '../../../infrastructure/documents/sealed-document-store.ts';
import { Keys } from './support/document-keys.ts';
import { documentsInFiles } from './support/documents-in-files.ts';

const [FROM, TO] = ['loan-app.P-1', 'loan-app.P-2'];
const sha256 = (content: Uint8Array | string): string => createHash('sha256').update(content).digest('hex');

describe('a document that another operation takes over', () => {
  const documents = documentsInFiles(FROM, TO);

  const stored = async (content: Buffer): Promise<string> => {
    await documents.store.put(FROM, receivedFile('ccb.pdf', content));
    return sha256(content);
  };
  const sealedFile = (stream: string, digest: string): Promise<Buffer> =>
    readFile(join(documents.directory, 'documents', sha256(stream), digest));

  test.each([
    ['nothing in it', Buffer.alloc(0)],
    ['a little', Buffer.from('%PDF-1.7 confidential')],
    ['several chunks', randomBytes(700_001)],
  ])('with %s is the same content under the other key, as often as it is copied', async (_, content) => {
    const digest = await stored(content);
    expect(await documents.store.copy(FROM, TO, digest)).toBe(true);
    const first = await sealedFile(TO, digest);
    expect(await documents.store.copy(FROM, TO, digest)).toBe(true);
    expect(first.equals(await sealedFile(TO, digest))).toBe(true);
    expect(first.equals(await sealedFile(FROM, digest))).toBe(false);
    const read = await documents.store.get(TO, digest);
    expect(read !== undefined && content.equals(read)).toBe(true);
  });

  test('stays when the first operation is forgotten, which then has nothing more to give', async () => {
    const digest = await stored(Buffer.from('%PDF-1.7'));
    await documents.store.copy(FROM, TO, digest);
    documents.keys.keys.delete(FROM);
    expect(await documents.store.get(TO, digest)).toBeDefined();
    expect(await documents.store.copy(FROM, 'loan-app.P-3', digest)).toBe(false);
  });

  test('is closed where the copy is there already, so that nothing of it is read', async () => {
    const keys = new Keys();
    for (const stream of [FROM, TO]) await keys.key(stream);
    const seen: string[] = [];
    const read = async (): Promise<Buffer> => (seen.push('read'), Buffer.alloc(0));
    const store = new SealedDocumentStore(
      {
        start: async () => undefined,
        put: async () => void seen.push('put'),
        open: async () => ({ size: 100, read, close: async () => void seen.push('closed') }),
        remove: async () => undefined,
      },
      keys,
    );
    expect(await store.copy(FROM, TO, 'ab'.repeat(32))).toBe(true);
    expect(seen).toEqual(['put', 'closed']);
  });

  test('cannot be taken over when it was never there', async () => {
    expect(await documents.store.copy(FROM, TO, 'ab'.repeat(32))).toBe(false);
  });
});
