import type {
  DocumentContents,
  DocumentCopies,
  DocumentRemoval,
  DocumentStore,
} from '../../../application/ports/document-store.ts';
import { FileDocumentInspector } from '../../documents/file-document-inspector.ts';
import { PdfChecker } from '../../documents/pdf-checker.ts';
import { CostlyFiles } from '../../documents/pdf-queue.ts';
import { S3Bucket, parseS3Url } from '../../documents/s3/s3-bucket.ts';
import { SealedS3DocumentStore } from '../../documents/s3/sealed-s3-document-store.ts';
import { SealedFileDocumentStore } from '../../documents/sealed-file-document-store.ts';
import { pause } from '../../support/time.ts';
import { ConfigurationError } from '../environment-reader.ts';
import type { Foundations } from '../foundations.ts';
import type { Adapters } from './adapters.ts';

interface DocumentStorage extends DocumentStore, DocumentContents, DocumentCopies, DocumentRemoval {
  /** Before the first use: makes the place ready, or says why it cannot be used. */
  start(): Promise<void>;
}

/** Files in DATA_DIR, or the bucket of S3_URL. @throws ConfigurationError */
export const documentArea = (
  { configuration, logger, observability }: Foundations,
  { operationKeys }: Adapters,
) => {
  const { dataDir, engines, environment } = configuration;
  const location = engines.s3Url === undefined ? undefined : parseS3Url(engines.s3Url);
  if (engines.s3Url !== undefined && location === undefined) {
    throw new ConfigurationError(
      'S3_URL must be like https://KEY:SECRET@host/bucket?region=sa-east-1, key and secret percent-encoded',
    );
  }
  const store: DocumentStorage = location
    ? new SealedS3DocumentStore(new S3Bucket({ location, pause }), operationKeys)
    : new SealedFileDocumentStore(dataDir, operationKeys);
  const pdfChecker = new PdfChecker({}, new CostlyFiles(), ({ message }) => {
    observability.metrics?.work.inspectorAway();
    logger.error({ event: 'inspector_away', error: message }, 'an uploaded file could not be checked');
  });
  return {
    store,
    // A sandbox takes hand-made files that only look like a PDF; production has each one parsed.
    inspector: new FileDocumentInspector(environment === 'production' ? pdfChecker : undefined),
    close: () => pdfChecker.close(),
  };
};

export type Documents = ReturnType<typeof documentArea>;
