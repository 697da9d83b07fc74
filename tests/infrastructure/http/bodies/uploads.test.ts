import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readFile, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { ReceivedFile } from '../../../../application/ports/document-store.ts';
import { contentOf } from '../../../../infrastructure/documents/file-document-inspector.ts';
import { UploadArea } from '../../../../infrastructure/http/bodies/uploads.ts';
import type { UploadSession } from '../../../../infrastructure/http/bodies/uploads.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const LIMIT = 2_000_000;
const MINUTE_MS = 60_000;

let root: string;
let area: UploadArea;
beforeEach(async () => {
  root = temporaryDirectory();
  area = await UploadArea.open(root);
});
afterEach(() => area.close());

const session = (): Promise<UploadSession> =>
  area.session({ applicationId: 'app', declaredBytes: 1000, gone: () => new AbortController().signal });
const own = async (): Promise<string> => join(root, (await readdir(root))[0]!);
const stored = async (): Promise<readonly string[]> =>
  (await readdir(await own())).filter((name) => name !== 'owner');
const store = (into: UploadSession, content: Uint8Array): Promise<ReceivedFile> =>
  into.store({ name: 'contract.pdf', field: 'files[0]' }, Readable.from([content]), LIMIT);

describe('an upload on disk', () => {
  test('is sealed, and is read as it came, whole and in parts', async () => {
    const uploads = await session();
    const content = Buffer.concat([Buffer.from('%PDF-1.7 confidential'), randomBytes(700_000)]);
    const file = await store(uploads, content);
    const [name] = await stored();
    const sealed = await readFile(join(await own(), name!));
    expect([sealed.length, sealed.includes('confidential')]).toEqual([content.length, false]);
    expect((await contentOf(file)).equals(content)).toBe(true);
    for (const range of [
      { start: 0, end: 5 },
      { start: 9, end: 21 },
      { start: 262_143, end: 524_290 },
      { start: 700_000, end: 9_000_000 },
      { start: 9_000_000, end: 9_000_001 },
    ])
      expect((await contentOf(file, range)).equals(content.subarray(range.start, range.end))).toBe(true);
    await uploads.discard();
  });

  test('has a key of its own: the same content twice is not the same on disk', async () => {
    const uploads = await session();
    const content = Buffer.alloc(100_000);
    await Promise.all([store(uploads, content), store(uploads, content)]);
    const [a, b] = await Promise.all((await stored()).map(async (name) => readFile(join(await own(), name))));
    expect(a!.equals(b!)).toBe(false);
    await uploads.discard();
  });

  test('is gone when its request ends; what still read it fails, and nothing but that', async () => {
    const uploads = await session();
    const content = randomBytes(1_500_000);
    const file = await store(uploads, content);
    const begun = file.read()[Symbol.asyncIterator]();
    await begun.next();
    const opened = file.read()[Symbol.asyncIterator]().next();
    const never = new Readable({ read: () => undefined });
    never.push('the beginning of a file that never ends');
    const unfinished = uploads.store({ name: 'unfinished.pdf', field: 'files[1]' }, never, LIMIT);
    const ends = Promise.allSettled([opened, unfinished]);
    await uploads.discard();
    expect(await stored()).toEqual([]);
    expect((await ends)[1].status).toBe('rejected');
    await expect(begun.next()).rejects.toMatchObject({ code: 'EBADF' });
    await expect(contentOf(file)).rejects.toThrow('has ended');
  });

  test('is refused where it grows beyond its limit', async () => {
    const uploads = await session();
    await expect(store(uploads, Buffer.alloc(LIMIT + 1))).rejects.toMatchObject({ status: 413 });
    await uploads.discard();
  });
});

describe('a small upload', () => {
  test('never lies on disk, and is read as it came, whole and in parts, until its request ends', async () => {
    const uploads = await session();
    const content = randomBytes(65_536);
    const file = await uploads.store(
      { name: 'contract.pdf', field: 'files[0]' },
      Readable.from([content.subarray(0, 1), content.subarray(1, 40_000), content.subarray(40_000)]),
      LIMIT,
    );
    expect(await stored()).toEqual([]);
    expect(file).toMatchObject({ size: 65_536, sha256: createHash('sha256').update(content).digest('hex') });
    expect((await contentOf(file)).equals(content)).toBe(true);
    for (const range of [
      { start: 3, end: 9 },
      { start: 65_000, end: 70_000 },
      { start: 70_000, end: 70_001 },
    ])
      expect((await contentOf(file, range)).equals(content.subarray(range.start, range.end))).toBe(true);
    await uploads.discard();
    await expect(contentOf(file)).rejects.toThrow('has ended');
  });

  test('lies on disk where the files of its request hold enough of memory already', async () => {
    const uploads = await session();
    const contents = [40_000, 30_000, 10].map((size) => randomBytes(size));
    const files = [];
    for (const content of contents) files.push(await store(uploads, content));
    const sizes = await Promise.all(
      (await stored()).map(async (name) => (await readFile(join(await own(), name))).length),
    );
    expect(sizes.toSorted()).toEqual([10, 30_000]);
    for (const [i, file] of files.entries()) expect((await contentOf(file)).equals(contents[i]!)).toBe(true);
    await uploads.discard();
    expect(await stored()).toEqual([]);
  });
});

describe('the upload folder', () => {
  const folder = async (name: string, minutes: number, marked = true): Promise<void> => {
    await mkdir(join(root, name));
    const entries = ['upload', ...(marked ? ['owner'] : []), ''];
    const then = new Date(Date.now() - minutes * MINUTE_MS);
    for (const entry of entries) {
      if (entry !== '') await writeFile(join(root, name, entry), 'x');
    }
    for (const entry of entries) await utimes(join(root, name, entry), then, then);
  };

  test('loses what silent processes left, at the start and again and again, and nothing else', async () => {
    await folder('marked', 4);
    await folder('silent', 6);
    await folder('begun', 4, false);
    await folder('ended as it began', 6, false);
    const other = await UploadArea.open(root, 5);
    const left = (await readdir(root)).filter((name) => !/^[0-9a-f]{8}-/.test(name));
    expect(left.sort()).toEqual(['begun', 'marked']);
    await folder('silent later', 6);
    const end = Date.now() + 60_000;
    while ((await readdir(root)).includes('silent later') && Date.now() < end)
      await new Promise((resolve) => setImmediate(resolve));
    expect(await readdir(root)).not.toContain('silent later');
    await other.close();
  });

  test('is made again when it was taken away, and is gone after an orderly end', async () => {
    const other = await UploadArea.open(root, 5);
    const names = (): Promise<string[]> => readdir(root);
    const [mine] = (await names()).filter((name) => !(name === (area as unknown as { name: string }).name));
    expect(mine).toBeDefined();
    await other.close();
    expect((await names()).length).toBe(1);
  });
});
