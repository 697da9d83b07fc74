import { beforeEach } from '@jest/globals';
import { FilePlace } from '../../../../infrastructure/documents/file-place.ts';
import { SealedDocumentStore } from '../../../../infrastructure/documents/sealed-document-store.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';
import { Keys } from './document-keys.ts';

/** A store in a directory of its own for each test. */
export class DocumentsInFiles {
  directory!: string;
  keys!: Keys;
  store!: SealedDocumentStore;

  /** The same files, as another process has them. */
  another(): SealedDocumentStore {
    return new SealedDocumentStore(new FilePlace(this.directory), this.keys);
  }
}

/** For all tests of a group. @param streams operations that have a key */
export const documentsInFiles = (...streams: readonly string[]): DocumentsInFiles => {
  const documents = new DocumentsInFiles();
  beforeEach(async () => {
    documents.directory = temporaryDirectory();
    documents.keys = new Keys();
    for (const stream of streams) await documents.keys.key(stream);
    documents.store = documents.another();
    await documents.store.start();
  });
  return documents;
};
