import { openPromise } from 'yauzl';
import type { ZipFile } from 'yauzl';

const REQUIRED = ['[content_types].xml', 'word/document.xml'];
/** A Word document has some dozens; a directory of a million entries is there to waste our time. */
const MOST_ENTRIES = 4096;

/**
 * What keeps a file from being a Word document; undefined when it is one. Only the zip's directory is read, nothing is unpacked,
 * so that a bomb stays harmless.
 */
export const wordDocumentFlaw = async (path: string): Promise<string | undefined> => {
  let zip: ZipFile;
  try {
    zip = await openPromise(path, { autoClose: false });
  } catch {
    return 'the archive is damaged';
  }
  try {
    if (zip.entryCount > MOST_ENTRIES) return 'the archive has too many entries';
    const missing = new Set(REQUIRED);
    for await (const entry of zip.eachEntry()) {
      if (entry.uncompressedSize > 0 && !entry.isEncrypted()) missing.delete(entry.fileName.toLowerCase());
    }
    return missing.size === 0 ? undefined : 'it is an archive, but not a Word document';
  } catch {
    return 'the archive is damaged';
  } finally {
    zip.close();
  }
};
