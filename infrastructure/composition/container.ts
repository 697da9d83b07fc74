import 'reflect-metadata';
import { Container } from 'inversify';
import { join } from 'node:path';
import { Administrator } from '../../application/administrator/administrator.ts';
import { SqlClientRegistry } from '../../application/clients/client-registry.ts';
import { CommandHandler } from '../../application/command-handling/command-handler.ts';
import { keptOperations } from '../../application/command-handling/kept-operations.ts';
import { SqlLeases } from '../../application/coordination/leases.ts';
import { SqlCheckpointStore } from '../../application/coordination/stored-places.ts';
import { OwnWrites } from '../../application/loans/read-model-progress.ts';
import { SandboxClock, SqlClockOffset } from '../../application/maintenance/sandbox/sandbox-clock.ts';
import { SqlBorrowerIndex } from '../../application/privacy/borrower-index.ts';
import { SqlProjectionStore } from '../../application/projecting/projection-store.ts';
import { RelayQuarantine } from '../../application/publication/relay.ts';
import { Renegotiation } from '../../application/renegotiation/renegotiation.ts';
import { fileDeadLetters } from '../administrator/file-dead-letters.ts';
import { FileDocumentInspector } from '../documents/file-document-inspector.ts';
import { FilePlace } from '../documents/file-place.ts';
import { PdfChecker, CostlyFiles } from '../documents/pdf-checker.ts';
import { BucketPlace, S3Bucket, parseS3Url } from '../documents/s3/s3-bucket.ts';
import { SealedDocumentStore } from '../documents/sealed-document-store.ts';
import { JwtTokens } from '../security/jwt-tokens.ts';
import { OperationKeys } from '../security/operation-keys.ts';
import { SealedBorrowerVault } from '../security/sealed-borrower-vault.ts';
import { TokenSigningKeys } from '../security/token-signing-keys.ts';
import { WrappedKeys } from '../security/wrapped-keys.ts';
import { pause, throttled } from '../support/time.ts';
import { MODULES } from './app.ts';
import { cacheBytes } from './cache-shares.ts';
import type { Foundations } from './foundations.ts';
import type { Parts } from './parts.ts';
import { readModelsOf, schedulingOf } from './processors.ts';
import { publicationOf, relayOf } from './publication.ts';
import { sendingOf } from './webhooks.ts';

const DEAD_LETTER_FILE = 'administrator-decisions.dead-letter.jsonl';
const ADMINISTRATOR_PAUSE_MS = 40;

/** Files in DATA_DIR, or the bucket of S3_URL. */
const documentsOf = ({ configuration, logger, observability, operationKeys }: Parts): Parts['documents'] => {
  const { dataDir, engines } = configuration;
  const location = engines.s3Url === undefined ? undefined : parseS3Url(engines.s3Url);
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

const administratorOf = (parts: Parts): Administrator => {
  const { commands, formats, clock, configuration, eventStore, observability } = parts;
  return new Administrator({
    ...{ commands, formats, clock, pause },
    events: eventStore,
    readModel: parts.readModelDatabase,
    disbursementTolerance: configuration.disbursementTolerance,
    deadLetterFile: (path = join(configuration.dataDir, DEAD_LETTER_FILE)) => fileDeadLetters(path),
    onPutAside: (reason) => observability.metrics?.work.deadLetter(reason),
    ...(configuration.environment === 'sandbox' && {
      sandbox: () => ({
        subscription: observability.follower(
          'sandbox-administrator',
          throttled(eventStore, ADMINISTRATOR_PAUSE_MS),
        ),
        checkpoints: parts.checkpoints,
        logger: parts.logger,
        sleep: pause,
        step: configuration.sandboxStep,
      }),
    }),
  });
};

type Made = Omit<Parts, keyof Foundations>;

const MAKERS: { readonly [Name in keyof Made]: (parts: Parts) => Made[Name] } = {
  ...MODULES,
  checkpoints: ({ serviceDatabase, realClock }) => new SqlCheckpointStore(serviceDatabase, realClock),
  leases: ({ serviceDatabase }) => new SqlLeases(serviceDatabase),
  clientRegistry: ({ serviceDatabase }) => new SqlClientRegistry(serviceDatabase),
  relayQuarantine: ({ serviceDatabase }) => new RelayQuarantine(serviceDatabase),
  projectionStore: ({ readModelDatabase }) => new SqlProjectionStore(readModelDatabase),
  operationKeys: ({ configuration, keyStore, keys }) =>
    new OperationKeys(
      new WrappedKeys(keyStore, keys.masterKeys, 'operation-keys'),
      cacheBytes(configuration, 'operationKeys'),
    ),
  borrowerIndex: ({ serviceDatabase }) => new SqlBorrowerIndex(serviceDatabase),
  vault: ({ keys, operationKeys, borrowerIndex: index, formats, eventStore, logger, observability }) =>
    new SealedBorrowerVault({
      keys: operationKeys,
      digestKey: keys.fingerprints,
      ...{ index, formats },
      events: eventStore,
      onMissing: ({ stream, message }) => {
        observability.metrics?.work.keyMissing();
        logger.error({ event: 'key_missing', stream }, message);
      },
    }),
  documents: documentsOf,
  readModels: readModelsOf,
  ownWrites: ({ configuration }) => new OwnWrites(cacheBytes(configuration, 'ownWrites')),
  // What follows the log decides now and then, and on other operations than requests do.
  keptOperations: ({ configuration }) => {
    const share = configuration.roles.includes('api') ? 'operations' : 'followedOperations';
    return keptOperations(cacheBytes(configuration, share));
  },
  commands: ({ clock, eventStore, keptOperations, observability, ownWrites, renegotiation }) =>
    new CommandHandler({
      events: eventStore,
      cache: keptOperations,
      ...{ clock, pause },
      resolve: (id) => renegotiation.conclusion.resolve(id),
      watch: observability.commands,
      onAppended: (...appended) => ownWrites.note(...appended),
    }),
  renegotiation: ({ clock, realClock, eventStore, vault, documents, keptOperations, ownWrites }) =>
    new Renegotiation({
      events: eventStore,
      ...{ clock, realClock, vault, pause },
      documents: documents.store,
      inspector: documents.inspector,
      forget: (stream) => keptOperations.delete(stream),
      onAppended: (...appended) => ownWrites.note(...appended),
    }),
  publication: publicationOf,
  relay: relayOf,
  sending: sendingOf,
  webhooks: ({ sending }) => sending.webhooks,
  administrator: administratorOf,
  scheduling: schedulingOf,
  signingKeys: ({ keyStore, keys, realClock: clock, logger }) =>
    new TokenSigningKeys({
      store: new WrappedKeys(keyStore, keys.masterKeys, 'signing-keys'),
      clock,
      logger,
    }),
  tokens: ({ configuration, realClock, signingKeys }) => {
    const { authUrl: issuer, publicUrl: audience, environment } = configuration;
    const settings = { issuer, audience, environment, cacheBytes: cacheBytes(configuration, 'tokens') };
    return new JwtTokens(signingKeys, realClock, settings);
  },
  sandboxClock: ({ movableClock: clock, realClock, serviceDatabase, logger }) => {
    if (!clock) return undefined;
    const offset = new SqlClockOffset(serviceDatabase, realClock);
    return new SandboxClock({ clock, realClock, offset, logger, sleep: pause });
  },
};

/** What was chosen at the start, with what is made of it: each part when it is first asked for, and kept. */
export const partsOf = (foundations: Foundations): Parts => {
  const container = new Container({ defaultScope: 'Singleton' });
  const parts = { ...foundations } as Parts;
  for (const [name, make] of Object.entries<(parts: Parts) => unknown>(MAKERS)) {
    container.bind(name).toDynamicValue(() => make(parts));
    Object.defineProperty(parts, name, { enumerable: true, get: (): unknown => container.get(name) });
  }
  return parts;
};
