import type {
  DocumentInspector,
  FileKind,
  Inspection,
  ReceivedFile,
} from '../../application/ports/document-store.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import type { PdfChecker } from './pdf-checker.ts';
import type { PdfFlaw } from './parser-protocol.ts';
import { contentOf } from './received-content.ts';
import { wordDocumentFlaw } from './word-document.ts';

const PDF_SIGNATURE = Buffer.from('%PDF-', 'latin1');
const ZIP_SIGNATURE = Buffer.from('PK\u0003\u0004', 'latin1');

const PDF_FLAWS: Readonly<Record<PdfFlaw, string>> = {
  unreadable: 'it starts like a PDF but cannot be read as one',
  password: 'it is protected by a password',
  too_costly: 'reading it takes too much time or memory',
};

/** Tells a file's kind from its first bytes; with a checker (production), a PDF must also parse. */
export class FileDocumentInspector implements DocumentInspector {
  readonly #pdfChecker: Pick<PdfChecker, 'check'> | undefined;

  constructor(pdfChecker?: Pick<PdfChecker, 'check'>) {
    this.#pdfChecker = pdfChecker;
  }

  async inspect(file: ReceivedFile, inspection: Inspection): Promise<FileKind> {
    const start = await firstBytes(file, PDF_SIGNATURE.length);
    if (start.equals(PDF_SIGNATURE)) {
      const verdict = (await this.#pdfChecker?.check(file, inspection)) ?? 'readable';
      if (verdict !== 'readable') throw invalid(file, PDF_FLAWS[verdict]);
      return 'pdf';
    }
    if (start.subarray(0, ZIP_SIGNATURE.length).equals(ZIP_SIGNATURE)) {
      const flaw = await wordDocumentFlaw(file);
      if (flaw !== undefined) throw invalid(file, flaw);
      return 'docx';
    }
    throw invalid(
      file,
      start.length === 0 ? 'it is empty' : 'its content is neither a PDF nor a Word document',
    );
  }
}

const firstBytes = (file: ReceivedFile, count: number): Promise<Buffer> =>
  contentOf(file, { start: 0, end: count });

const invalid = (file: ReceivedFile, reason: string): DomainError => {
  const message = `file ${file.name}: ${reason}`;
  return new DomainError('invalid_file', message, [{ field: file.name, code: 'invalid_file', message }]);
};
