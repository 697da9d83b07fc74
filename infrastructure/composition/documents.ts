import { FileDocumentInspector } from '../documents/file-document-inspector.ts';
import { FilePlace } from '../documents/file-place.ts';
import { PdfChecker } from '../documents/pdf-checker.ts';
import { CostlyFiles } from '../documents/pdf-queue.ts';
import { S3Bucket, parseS3Url } from '../documents/s3/s3-bucket.ts';
import { BucketPlace } from '../documents/s3/bucket-place.ts';
import { SealedDocumentStore } from '../documents/sealed-document-store.ts';
import { pause } from '../support/time.ts';
import { ConfigurationError } from './environment-reader.ts';
import type { Parts } from './parts.ts';

/** Files in DATA_DIR, or the bucket of S3_URL. @throws ConfigurationError */
export const documentsOf = ({ foundations, operationKeys }: Parts): Parts['documents'] => {
  const { configuration, logger, observability } = foundations;
  const { dataDir, engines } = configuration;
  const location = engines.s3Url === undefined ? undefined : parseS3Url(engines.s3Url);
  if (engines.s3Url !== undefined && location === undefined) {
    throw new ConfigurationError(
      'S3_URL must be like https://KEY:SECRET@host/bucket?region=sa-east-1, key and secret percent-encoded',
    );
  }
  const pdfChecker = new PdfChecker({}, new CostlyFiles(), ({ message }) => {
    observability.metrics?.work.inspectorAway();
    logger.error({ event: 'inspector_away', error: message }, 'an uploaded file could not be checked');
  });
  return {
    store: new SealedDocumentStore(
      location ? new BucketPlace(new S3Bucket({ location, pause })) : new FilePlace(dataDir),
      operationKeys,
    ),
    inspector: new FileDocumentInspector(pdfChecker),
    close: () => pdfChecker.close(),
  };
};
