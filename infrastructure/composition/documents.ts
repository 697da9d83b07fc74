import type {
  DocumentContents,
  DocumentCopies,
  DocumentRemoval,
  DocumentStore,
} from '../../application/ports/document-store.ts';
import type { DocumentKeys } from '../documents/sealed-content.ts';
import { S3Bucket, parseS3Url } from '../documents/s3/s3-bucket.ts';
import { SealedS3DocumentStore } from '../documents/s3/sealed-s3-document-store.ts';
import { SealedFileDocumentStore } from '../documents/sealed-file-document-store.ts';
import { pause } from '../support/time.ts';
import type { Configuration } from './configuration.ts';
import { ConfigurationError } from './environment-reader.ts';

export interface Documents extends DocumentStore, DocumentContents, DocumentCopies, DocumentRemoval {
  /** Before the first use: makes the place ready, or says why it cannot be used. */
  start(): Promise<void>;
}

/** Files in DATA_DIR, or the bucket of S3_URL. @throws ConfigurationError */
export const openDocuments = (
  { dataDir, engines: { s3Url } }: Configuration,
  keys: DocumentKeys,
): Documents => {
  if (s3Url === undefined) return new SealedFileDocumentStore(dataDir, keys);
  const location = parseS3Url(s3Url);
  if (location === undefined) {
    throw new ConfigurationError(
      'S3_URL must be like https://KEY:SECRET@host/bucket?region=sa-east-1, key and secret percent-encoded',
    );
  }
  return new SealedS3DocumentStore(new S3Bucket({ location, pause }), keys);
};
