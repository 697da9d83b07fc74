import { expect, test } from '@jest/globals';
import type { ReceivedFile } from '../../../application/ports/document-store.ts';
import { PdfChecker } from '../../../infrastructure/documents/pdf-checker.ts';
import { FileDocumentInspector } from '../../../infrastructure/documents/file-document-inspector.ts';

const lacking = (code: string): Error => Object.assign(new Error(`${code}: open`), { code });

/** A zip by its first bytes; whatever is read after them fails. */
const failingWith = (error: Error): ReceivedFile => ({
  name: 'term.docx',
  field: 'files[0]',
  size: 10_000,
  sha256: 'a'.repeat(64),
  read: async function* (range) {
    if (range === undefined || range.end > 100) throw error;
    yield Buffer.from('PK\u0003\u0004');
  },
});

const inspected = (error: Error): Promise<unknown> =>
  new FileDocumentInspector(new PdfChecker()).inspect(failingWith(error), ['docx'], {
    applicationId: 'app-1',
  });

test('a Word document that the machine cannot read is not called damaged', async () => {
  await expect(inspected(lacking('EMFILE'))).rejects.toMatchObject({ code: 'EMFILE' });
  await expect(inspected(new Error('the archive ends too early'))).rejects.toMatchObject({
    code: 'invalid_file',
  });
});
