import { RandomAccessReader, fromRandomAccessReaderPromise } from 'yauzl';
import type { ZipFile } from 'yauzl';
import type {
  ByteRange,
  DocumentInspector,
  FileKind,
  Inspection,
  ReceivedFile,
} from '../../application/ports/document-store.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import { machineTrouble } from '../support/machine-trouble.ts';
import type { PdfChecker } from './pdf-checker.ts';
import type { PdfVerdict } from './pdf-process.ts';

/** A content, or a part of it, in memory. */
export const contentOf = async (file: ReceivedFile, range?: ByteRange): Promise<Buffer> =>
  Buffer.concat(await Array.fromAsync(file.read(range)));

/** Word for the web numbers the part with the text: `word/document2.xml`. */
const REQUIRED = [/^\[content_types\]\.xml$/i, /^word\/document\d*\.xml$/i];
/** A Word document has some dozens of entries, of some thirty bytes each; a larger directory is an attempt to waste processor time. */
const MOST_ENTRIES = 1_000;
const MOST_DIRECTORY_BYTES = 128 * 1024;
const WINDOW_BYTES = 64 * 1024;

type Done = (error: Error | null) => void;

/** Reads parts of an archive for yauzl, which asks for the directory in small steps; so a larger window is read at once. */
class ArchiveReader extends RandomAccessReader {
  readonly #file: ReceivedFile;
  #window: { readonly start: number; readonly bytes: Buffer } = { start: 0, bytes: Buffer.alloc(0) };

  constructor(file: ReceivedFile) {
    super();
    this.#file = file;
  }

  // eslint-disable-next-line max-params -- as yauzl calls it
  override read(buffer: Buffer, offset: number, length: number, position: number, done: Done): void {
    const { start, bytes } = this.#window;
    // Answered without a promise where possible: an entry is two small reads, and two promises cost more than the entry.
    if (position >= start && position + length <= start + bytes.length) {
      bytes.copy(buffer, offset, position - start, position - start + length);
      return done(null);
    }
    this.#move(position, length).then(
      (part) => done(part.copy(buffer, offset) < length ? new Error('the archive ends too early') : null),
      done,
    );
  }

  async #move(position: number, length: number): Promise<Buffer> {
    const end = position + Math.max(length, WINDOW_BYTES);
    this.#window = { start: position, bytes: await contentOf(this.#file, { start: position, end }) };
    return this.#window.bytes.subarray(0, length);
  }
}

/** @throws the error where the machine is to blame, and not the file */
const damagedBy = (error: unknown): string => {
  if (machineTrouble(error) !== undefined) throw error;
  return 'the archive is damaged';
};

/**
 * What keeps a file from being a Word document; undefined when it is one. Only the zip's directory is read, nothing is unpacked,
 * so that a zip bomb stays harmless.
 */
const wordDocumentFlaw = async (file: ReceivedFile): Promise<string | undefined> => {
  let zip: ZipFile;
  try {
    zip = await fromRandomAccessReaderPromise(new ArchiveReader(file), file.size, { autoClose: false });
  } catch (error) {
    return damagedBy(error);
  }
  try {
    if (zip.entryCount > MOST_ENTRIES) return 'the archive has too many entries';
    const missing = new Set(REQUIRED);
    let bytes = 0;
    for await (const entry of zip.eachEntry()) {
      bytes += entry.fileNameLength + entry.extraFieldLength + entry.fileCommentLength;
      if (bytes > MOST_DIRECTORY_BYTES) return 'the archive has too large a directory';
      if (entry.uncompressedSize === 0 || entry.isEncrypted()) continue;
      for (const name of missing) if (name.test(entry.fileName)) missing.delete(name);
      if (missing.size === 0) return undefined;
    }
    return 'it is an archive, but not a Word document';
  } catch (error) {
    return damagedBy(error);
  } finally {
    zip.close();
  }
};

const PDF_SIGNATURE = Buffer.from('%PDF-', 'latin1');
const ZIP_SIGNATURE = Buffer.from('PK\u0003\u0004', 'latin1');

const PDF_FLAWS: Readonly<Record<Exclude<PdfVerdict, 'readable'>, string>> = {
  unreadable: 'it starts like a PDF but cannot be read as one',
  password: 'it is protected by a password',
  too_costly: 'reading it takes too much time or memory',
};

/** Tells a file's kind from its first bytes; a PDF must also parse where that is asked for. */
export class FileDocumentInspector implements DocumentInspector {
  readonly #pdfChecker: Pick<PdfChecker, 'check'>;

  constructor(pdfChecker: Pick<PdfChecker, 'check'>) {
    this.#pdfChecker = pdfChecker;
  }

  async inspect(
    file: ReceivedFile,
    accepted: readonly FileKind[],
    inspection: Inspection,
  ): Promise<FileKind> {
    const start = await contentOf(file, { start: 0, end: PDF_SIGNATURE.length });
    if (accepted.includes('pdf') && start.equals(PDF_SIGNATURE)) {
      const verdict = inspection.strict ? await this.#pdfChecker.check(file, inspection) : 'readable';
      if (verdict !== 'readable') throw invalid(file, PDF_FLAWS[verdict]);
      return 'pdf';
    }
    if (accepted.includes('docx') && start.subarray(0, ZIP_SIGNATURE.length).equals(ZIP_SIGNATURE)) {
      const flaw = await wordDocumentFlaw(file);
      if (flaw !== undefined) throw invalid(file, flaw);
      return 'docx';
    }
    throw invalid(file, start.length === 0 ? 'it is empty' : `its content is ${neitherOf(accepted)}`);
  }
}

const NAMES: Readonly<Record<FileKind, string>> = { pdf: 'a PDF', docx: 'a Word document' };

const neitherOf = (kinds: readonly FileKind[]): string => {
  const names = kinds.map((kind) => NAMES[kind]);
  return names.length === 1 ? `not ${names.join()}` : `neither ${names.join(' nor ')}`;
};

const invalid = (file: ReceivedFile, reason: string): DomainError => {
  const message = `file ${file.name}: ${reason}`;
  return new DomainError('invalid_file', message, [{ field: file.field, code: 'invalid_file', message }]);
};
