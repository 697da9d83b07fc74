import { afterAll, describe, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import type { ReceivedFile } from '../../../application/ports/document-store.ts';
import { FileDocumentInspector } from '../../../infrastructure/documents/file-document-inspector.ts';
import { PdfChecker } from '../../../infrastructure/documents/pdf-checker.ts';
import * as pdfs from './support/sample-pdfs.ts';
import { wordDocument, zipOf } from './support/sample-zips.ts';
import { receivedFile } from '../../support/received-file.ts';

const EITHER = ['pdf', 'docx'] as const;
const MEGABYTE = 1024 * 1024;
const LIMIT = 10 * MEGABYTE;
const checker = new PdfChecker();
const inspector = new FileDocumentInspector(checker);
const mine = { applicationId: 'mine' };
const strictly = { ...mine, strict: true };

afterAll(() => checker.close());

const received = (content: Buffer | string): ReceivedFile => receivedFile('contract.pdf', content);
const pdfOfRandomBytes = (): Buffer => Buffer.concat([Buffer.from('%PDF-1.7\n'), randomBytes(LIMIT - 9)]);

describe.each([
  ['at a glance', mine],
  ['strictly', strictly],
])('document inspector (%s)', (_, inspection) => {
  test('knows a PDF and a Word document by their content, whatever the name says', async () => {
    expect(await inspector.inspect(received(pdfs.onePage()), EITHER, inspection)).toBe('pdf');
    expect(await inspector.inspect(received(wordDocument()), EITHER, inspection)).toBe('docx');
  });

  test('takes a document that Word for the web saved, whose part with the text has a number', async () => {
    const names = ['word/document2.xml', 'word/_rels/document2.xml.rels', '[Content_Types].xml'];
    const saved = zipOf(names.map((name) => ({ name, content: '<x/>' })));
    expect(await inspector.inspect(received(saved), EITHER, inspection)).toBe('docx');
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
    await expect(inspector.inspect(received(content()), EITHER, inspection)).rejects.toMatchObject({
      code: 'invalid_file',
      message: expect.stringMatching(message),
    });
  });

  test('a zip bomb stays packed, and a directory of thousands of entries is not walked', async () => {
    expect(
      await inspector.inspect(received(wordDocument(Buffer.alloc(20 * MEGABYTE))), EITHER, inspection),
    ).toBe('docx');
    const many = zipOf(Array.from({ length: 5000 }, (_each, index) => ({ name: `${index}`, content: '' })));
    await expect(inspector.inspect(received(many), EITHER, inspection)).rejects.toThrow(
      'the archive has too many entries',
    );
    const long = zipOf(Array.from({ length: 10 }, () => ({ name: 'x'.repeat(60_000), content: '' })));
    await expect(inspector.inspect(received(long), EITHER, inspection)).rejects.toThrow(
      'too large a directory',
    );
  });
});

test.each<[string, Buffer | string]>([
  ['text', 'hello'],
  ['a Word document', wordDocument()],
])('where only a PDF is accepted, %s is not told that another kind would do', async (_, content) => {
  await expect(inspector.inspect(received(content), ['pdf'], mine)).rejects.toMatchObject({
    message: 'file contract.pdf: its content is not a PDF',
    details: [{ field: 'files[0]', code: 'invalid_file' }],
  });
});

test('at a glance a hand-made file with the signature is enough', async () => {
  expect(await inspector.inspect(received('%PDF-1.4\nhello'), EITHER, mine)).toBe('pdf');
});

describe('strictly, a PDF must parse', () => {
  test.each<[string, () => Buffer | string]>([
    ['with one page', () => pdfs.onePage()],
    ['of almost 10 MiB', () => pdfs.onePage(`\n%${'x'.repeat(LIMIT - 1000)}`)],
    ['with a page tree 20,000 levels deep', () => pdfs.nestedPageTree(20_000)],
    [
      'whose cross-reference table is wrong, as viewers repair it',
      () => pdfs.onePage().toString().replace('startxref\n', 'startxref\n9'),
    ],
  ])('%s: accepted', async (_, content) => {
    expect(await inspector.inspect(received(content()), EITHER, strictly)).toBe('pdf');
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
    await expect(inspector.inspect(received(content()), EITHER, strictly)).rejects.toMatchObject({
      code: 'invalid_file',
      message: expect.stringMatching(message),
    });
  });
});
