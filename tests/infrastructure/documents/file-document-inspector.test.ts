import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomBytes, randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BusyError } from '../../../application/ports/busy-error.ts';
import type { ReceivedFile } from '../../../application/ports/document-store.ts';
import { FileDocumentInspector } from '../../../infrastructure/documents/file-document-inspector.ts';
import { PdfChecker } from '../../../infrastructure/documents/pdf-checker.ts';
import type { PdfLimits } from '../../../infrastructure/documents/pdf-checker.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import * as pdfs from './support/sample-pdfs.ts';
import { wordDocument, zipOf } from './support/sample-zips.ts';

const MEGABYTE = 1024 * 1024;
const LIMIT = 10 * MEGABYTE;
const checker = new PdfChecker();
const sandbox = new FileDocumentInspector();
const production = new FileDocumentInspector(checker);

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
beforeAll(async () => (directory = await temporaryDirectory()));
afterAll(async () => {
  checker.close();
  await directory.remove();
});

const received = async (content: Buffer | string): Promise<ReceivedFile> => {
  const path = join(directory.path, randomUUID());
  await writeFile(path, content);
  return { name: 'contract.pdf', size: content.length, sha256: '', path };
};
const pdfOfRandomBytes = (): Buffer => Buffer.concat([Buffer.from('%PDF-1.7\n'), randomBytes(LIMIT - 9)]);

describe.each([
  ['sandbox', sandbox],
  ['production', production],
])('document inspector (%s)', (_, inspector) => {
  test('knows a PDF and a Word document by their content, whatever the name says', async () => {
    expect(await inspector.inspect(await received(pdfs.onePage()))).toBe('pdf');
    expect(await inspector.inspect(await received(wordDocument()))).toBe('docx');
  });

  test.each<[string, () => Buffer | string, RegExp]>([
    ['an empty file', () => '', /^file contract\.pdf: it is empty$/],
    ['a file of four bytes', () => '%PDF', /neither a PDF nor a Word document$/],
    ['text', () => 'hello', /neither a PDF nor a Word document$/],
    ['a picture', () => randomBytes(1000).fill('\x89PNG', 0, 4), /neither a PDF nor a Word document$/],
    ['a signature that is not at the start', () => ` ${pdfs.onePage().toString()}`, /neither a PDF/],
    [
      'a zip of something else',
      () => zipOf([{ name: 'a.txt', content: 'a' }]),
      /an archive, but not a Word document$/,
    ],
    [
      'a workbook',
      () => zipOf(['[Content_Types].xml', 'xl/workbook.xml'].map((name) => ({ name, content: '<x/>' }))),
      /an archive, but not a Word document$/,
    ],
    ['a Word document without content', () => wordDocument(''), /an archive, but not a Word document$/],
    ['a zip cut off', () => wordDocument().subarray(0, -30), /the archive is damaged$/],
    [
      '10 MiB of random bytes behind a zip signature',
      () => randomBytes(LIMIT).fill('PK\x03\x04', 0, 4),
      /is damaged$/,
    ],
  ])('%s is refused with the reason', async (_name, content, message) => {
    await expect(inspector.inspect(await received(content()))).rejects.toMatchObject({
      code: 'invalid_file',
      message: expect.stringMatching(message),
    });
  });

  test('a zip bomb stays packed, and a directory of thousands of entries is not walked', async () => {
    expect(await inspector.inspect(await received(wordDocument(Buffer.alloc(20 * MEGABYTE))))).toBe('docx');
    const many = zipOf(Array.from({ length: 5000 }, (_each, index) => ({ name: `${index}`, content: '' })));
    await expect(inspector.inspect(await received(many))).rejects.toThrow('the archive has too many entries');
  });
});

test('in the sandbox a hand-made file with the signature is enough', async () => {
  expect(await sandbox.inspect(await received('%PDF-1.4\nhello'))).toBe('pdf');
});

describe('in production a PDF must parse', () => {
  test.each<[string, () => Buffer | string]>([
    ['with one page', () => pdfs.onePage()],
    ['of almost 10 MiB', () => pdfs.onePage(`\n%${'x'.repeat(LIMIT - 1000)}`)],
    ['with a page tree 20,000 levels deep', () => pdfs.nestedPageTree(20_000)],
    [
      'whose cross-reference table is wrong, as viewers repair it',
      () => pdfs.onePage().toString().replace('startxref\n', 'startxref\n9'),
    ],
  ])('%s: accepted', async (_, content) => {
    expect(await production.inspect(await received(content()))).toBe('pdf');
  });

  test.each<[string, () => Buffer | string, RegExp]>([
    ['a signature and nothing else', () => '%PDF-1.4\n%%EOF\n', /cannot be read as one$/],
    ['10 MiB of random bytes', pdfOfRandomBytes, /cannot be read as one$|too much time or memory$/],
    [
      'a million objects that begin and never end',
      () => `%PDF-1.7\n${'1 0 obj\n'.repeat(1_000_000)}`,
      /cannot be read/,
    ],
    ['an endless chain of cross-reference tables', pdfs.endlessXref, /cannot be read as one$/],
    ['a page tree that contains itself', pdfs.circularPageTree, /cannot be read as one$/],
    ['arrays nested a million deep', () => pdfs.nestedArrays(1_000_000), /cannot be read as one$/],
    ['a password', pdfs.encrypted, /protected by a password$/],
  ])('%s: refused', async (_, content, message) => {
    await expect(production.inspect(await received(content()))).rejects.toMatchObject({
      code: 'invalid_file',
      message: expect.stringMatching(message),
    });
  });
});

describe('PDF checker', () => {
  const limits = { milliseconds: 10_000, megabytes: 200, processes: 1, waiting: 10 };
  const using = async <Result>(
    bounds: PdfLimits,
    work: (bounded: PdfChecker) => Promise<Result>,
  ): Promise<Result> => {
    const bounded = new PdfChecker(bounds);
    try {
      return await work(bounded);
    } finally {
      bounded.close();
    }
  };

  test.each<[string, () => Buffer]>([
    ['into buffers', () => pdfs.objectStreamBomb(1000)],
    ['into small objects', () => pdfs.xrefBomb(400)],
    [
      'into one array, faster than V8 can react',
      () => Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(LIMIT)]),
    ],
  ])('stops a file that unpacks %s, and this process stays small', async (_, content) => {
    const { path } = await received(content());
    const before = process.memoryUsage.rss();
    expect(await using(limits, (bounded) => bounded.check(path))).toBe('too_costly');
    expect(process.memoryUsage.rss() - before).toBeLessThan(100 * MEGABYTE);
  });

  test('stops a file that takes too long, and the main thread goes on meanwhile', async () => {
    const { path } = await received(pdfs.objectStreamBomb(2000));
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 5);
    const patient = { ...limits, milliseconds: 400, megabytes: 8192 };
    const verdict = await using(patient, (bounded) => bounded.check(path));
    clearInterval(timer);
    expect(verdict).toBe('too_costly');
    // How often depends on what else the machine does; a blocked thread would not have come to it at all.
    expect(turns).toBeGreaterThan(0);
  });

  test('a bad file costs its process, not the files that wait behind it', async () => {
    const bad = await received(pdfs.objectStreamBomb(1000));
    const good = await received(pdfs.onePage());
    const files = [good, bad, good, bad, good];
    const verdicts = await using(limits, (bounded) =>
      Promise.all(files.map(({ path }) => bounded.check(path))),
    );
    expect(verdicts).toEqual(['readable', 'too_costly', 'readable', 'too_costly', 'readable']);
  });

  test('says so when too many wait', async () => {
    const { path } = await received(pdfs.onePage());
    const answers = await using({ ...limits, waiting: 1 }, (bounded) =>
      Promise.allSettled([1, 2, 3].map(() => bounded.check(path))),
    );
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    expect(answers[2]).toMatchObject({ reason: expect.any(BusyError) });
  });

  test('large files in a row do not add up', async () => {
    const { path } = await received(pdfs.onePage(`\n%${'x'.repeat(5 * MEGABYTE)}`));
    await using(limits, async (bounded) => {
      for (let index = 0; index < 15; index += 1) expect(await bounded.check(path)).toBe('readable');
    });
  });
});
