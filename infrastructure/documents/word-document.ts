import { RandomAccessReader, fromRandomAccessReaderPromise } from 'yauzl';
import type { ZipFile } from 'yauzl';
import type { ReceivedFile } from '../../application/ports/document-store.ts';
import { contentOf } from './received-content.ts';

const REQUIRED = ['[content_types].xml', 'word/document.xml'];
/** A Word document has some dozens, of some thirty bytes each; a directory beyond that is there to waste our time. */
const MOST_ENTRIES = 1_000;
const MOST_DIRECTORY_BYTES = 128 * 1024;
const WINDOW_BYTES = 64 * 1024;

type Done = (error: Error | null) => void;

/** Gives out the parts of an archive that are asked for. Its directory is asked for in small steps, so more is read at once. */
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
    // At once where it can be: an entry is two small reads, and a promise for each costs more than the entry.
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

/**
 * What keeps a file from being a Word document; undefined when it is one. Only the zip's directory is read, nothing is unpacked,
 * so that a bomb stays harmless.
 */
export const wordDocumentFlaw = async (file: ReceivedFile): Promise<string | undefined> => {
  let zip: ZipFile;
  try {
    zip = await fromRandomAccessReaderPromise(new ArchiveReader(file), file.size, { autoClose: false });
  } catch {
    return 'the archive is damaged';
  }
  try {
    if (zip.entryCount > MOST_ENTRIES) return 'the archive has too many entries';
    const missing = new Set(REQUIRED);
    let bytes = 0;
    for await (const entry of zip.eachEntry()) {
      bytes += entry.fileNameLength + entry.extraFieldLength + entry.fileCommentLength;
      if (bytes > MOST_DIRECTORY_BYTES) return 'the archive has too large a directory';
      if (entry.uncompressedSize > 0 && !entry.isEncrypted()) missing.delete(entry.fileName.toLowerCase());
      if (missing.size === 0) return undefined;
    }
    return 'it is an archive, but not a Word document';
  } catch {
    return 'the archive is damaged';
  } finally {
    zip.close();
  }
};
