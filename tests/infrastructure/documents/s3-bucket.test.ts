import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { DamagedDocumentError } from '../../../application/ports/document-store.ts';
import type { ReceivedFile } from '../../../application/ports/document-store.ts';
import { StoreUnavailableError } from '../../../application/ports/event-store.ts';
import { S3Bucket, parseS3Url, BucketPlace } from '../../../infrastructure/documents/s3/s3-bucket.ts';
import { SealedDocumentStore } from '../../../infrastructure/documents/sealed-document-store.ts';
import { S3StandIn } from '../../support/s3/s3-stand-in.ts';
import { receivedFile } from '../../support/received-file.ts';
import { Keys } from './support/document-keys.ts';

const STREAM = 'loan-app.P-1';
const OTHER = 'loan-app.P-2';

let s3: S3StandIn;
const documentKeys = new Keys();
const { keys } = documentKeys;

const storeAt = (url: string): SealedDocumentStore => {
  const location = parseS3Url(url);
  if (!location) throw new Error('the address is well written');
  const bucket = new S3Bucket({ location, pause: () => Promise.resolve() });
  return new SealedDocumentStore(new BucketPlace(bucket), documentKeys);
};

beforeEach(async () => {
  keys.clear();
  for (const stream of [STREAM, OTHER]) await documentKeys.key(stream);
  s3 = await S3StandIn.start();
});
afterEach(() => s3.stop());

const received = (content: Buffer): ReceivedFile => receivedFile('contract.pdf', content);

describe('sealed documents in a bucket', () => {
  test.each([0, 21, 1_000_003])('%d bytes come back as they were and lie there sealed', async (size) => {
    const content = randomBytes(size);
    const file = received(content);
    const store = storeAt(s3.url);
    await store.start();
    await store.put(STREAM, file);
    expect(content.equals((await storeAt(s3.url).get(STREAM, file.sha256))!)).toBe(true);
    const [lying] = [...s3.objects.values()];
    if (size > 0) expect(lying!.bytes.includes(content.subarray(0, 20))).toBe(false);
  });

  test('storing twice is storing once; a new key stores anew', async () => {
    const file = received(Buffer.from('content'));
    const store = storeAt(s3.url);
    await store.put(STREAM, file);
    const [first] = [...s3.objects.values()];
    await store.put(STREAM, file);
    expect([...s3.objects.values()]).toEqual([first]);
    keys.clear();
    await documentKeys.key(STREAM);
    expect(await store.get(STREAM, file.sha256)).toBeUndefined();
    await store.put(STREAM, file);
    expect(Buffer.from((await store.get(STREAM, file.sha256))!).toString()).toBe('content');
  });

  test('copies are sealed for the other operation; what is removed is gone', async () => {
    const file = received(Buffer.from('content'));
    const store = storeAt(s3.url);
    await store.put(STREAM, file);
    expect(await store.copy(STREAM, OTHER, file.sha256)).toBe(true);
    expect(await store.copy(STREAM, OTHER, 'f'.repeat(64))).toBe(false);
    await store.remove(STREAM, file.sha256);
    await store.remove(STREAM, file.sha256);
    expect(await store.get(STREAM, file.sha256)).toBeUndefined();
    expect(Buffer.from((await store.get(OTHER, file.sha256))!).toString()).toBe('content');
  });

  test('damage is noticed', async () => {
    const file = received(randomBytes(500));
    const store = storeAt(s3.url);
    await store.put(STREAM, file);
    for (const stored of s3.objects.values()) stored.bytes[60]! ^= 1;
    await expect(store.get(STREAM, file.sha256)).rejects.toThrow(DamagedDocumentError);
  });

  test('what passes by itself is tried again, each attempt within its time', async () => {
    const file = received(Buffer.from('content'));
    s3.faults.push('unavailable', 'cut');
    await storeAt(s3.url).put(STREAM, file);
    expect(s3.objects.size).toBe(1);
    s3.faults.push('silent');
    const timeout = AbortSignal.timeout.bind(AbortSignal);
    using times = jest.spyOn(AbortSignal, 'timeout').mockImplementationOnce(() => timeout(100));
    await storeAt(s3.url).put(OTHER, file);
    expect(s3.objects.size).toBe(2);
    expect(times.mock.calls).toContainEqual([10_000]);
    expect(s3.faults).toEqual([]);
  });

  test('a storage that stays away is unavailable: nothing was acknowledged', async () => {
    const file = received(Buffer.from('content'));
    s3.faults.push('cut', 'cut', 'cut', 'cut');
    await expect(storeAt(s3.url).put(STREAM, file)).rejects.toThrow(StoreUnavailableError);
    expect(s3.objects.size).toBe(0);
  });

  test('a wrong secret or bucket is told at the start', async () => {
    await expect(storeAt(s3.url.replace('AKIASANDBOX:se', 'AKIASANDBOX:xx')).start()).rejects.toThrow('403');
    await expect(storeAt(s3.url.replace('documents-bucket', 'another')).start()).rejects.toThrow('404');
  });
});

describe('S3_URL', () => {
  test('names bucket, prefix, region and both credentials', () => {
    expect(parseS3Url('https://key:s%2Fecret@s3.example.com:9000/bucket/prefix/?region=sa-east-1')).toEqual({
      base: 'https://s3.example.com:9000/bucket/prefix',
      region: 'sa-east-1',
      accessKeyId: 'key',
      secretAccessKey: 's/ecret',
    });
    expect(parseS3Url('http://key:secret@localhost:9000/b')?.region).toBe('us-east-1');
  });

  test.each([
    ['not an address', 'bucket'],
    ['another protocol', 's3://key:secret@host/b'],
    ['no credentials', 'https://host/bucket'],
    ['no secret', 'https://key@host/bucket'],
    ['no bucket', 'https://key:secret@host/'],
    ['an unknown option', 'https://key:secret@host/b?acl=public'],
    ['a broken escape', 'https://key:%zz@host/b'],
  ])('%s is refused', (_, text) => {
    expect(parseS3Url(text)).toBeUndefined();
  });
});
