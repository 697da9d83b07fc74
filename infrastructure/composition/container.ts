import 'reflect-metadata';
import { Container } from 'inversify';
import { join } from 'node:path';
import { Administrator } from '../../application/administrator/administrator.ts';
import { SqlClientRegistry } from '../../application/clients/client-registry.ts';
import { CommandHandler } from '../../application/command-handling/command-handler.ts';
import { KeptOperations } from '../../application/command-handling/kept-operations.ts';
import { SqlKeyStore } from '../../application/coordination/key-store.ts';
import { SqlLeases } from '../../application/coordination/leases.ts';
import { SqlCheckpointStore } from '../../application/coordination/stored-places.ts';
import { StoredFormats } from '../../application/event-codec/stored-formats.ts';
import { OwnWrites } from '../../application/loans/own-writes.ts';
import { SqlClockOffset } from '../../application/maintenance/sandbox/sandbox-clock.ts';
import { SandboxClock } from '../../application/maintenance/sandbox/sandbox-clock.ts';
import { SqlBorrowerIndex } from '../../application/privacy/borrower-index.ts';
import { SqlProjectionStore } from '../../application/projecting/projection-store.ts';
import { RelayQuarantine } from '../../application/publication/relay-quarantine.ts';
import { Renegotiation } from '../../application/renegotiation/renegotiation.ts';
import { FileDeadLetters } from '../administrator/file-dead-letters.ts';
import { FileDocumentInspector } from '../documents/file-document-inspector.ts';
import { FilePlace } from '../documents/file-place.ts';
import { PdfChecker } from '../documents/pdf-checker.ts';
import { CostlyFiles } from '../documents/pdf-queue.ts';
import { BucketPlace } from '../documents/s3/bucket-place.ts';
import { S3Bucket, parseS3Url } from '../documents/s3/s3-bucket.ts';
import { SealedDocumentStore } from '../documents/sealed-document-store.ts';
import { JwtTokens } from '../security/jwt-tokens.ts';
import { OperationKeys } from '../security/operation-keys.ts';
import { SealedBorrowerVault } from '../security/sealed-borrower-vault.ts';
import { TokenSigningKeys } from '../security/token-signing-keys.ts';
import { WrappedKeys } from '../security/wrapped-keys.ts';
import { lazily } from '../support/when-asked.ts';
import { pause, throttled } from '../support/time.ts';
import { appOf } from './app.ts';
import { cacheBytes } from './cache-shares.ts';
import { ConfigurationError } from './environment-reader.ts';
import type { Foundations } from './foundations.ts';
import type { Parts } from './parts.ts';
import { readModelsOf, schedulingOf } from './processors.ts';
import { publicationOf, relayOf } from './publication.ts';
import { webhooksOf } from './webhooks.ts';

const DEAD_LETTER_FILE = 'administrator-decisions.dead-letter.jsonl';
const ADMINISTRATOR_PAUSE_MS = 40;

/** Files in DATA_DIR, or the bucket of S3_URL. @throws ConfigurationError */
const documentsOf = ({ foundations, operationKeys }: Parts): Parts['documents'] => {
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

const vaultOf = ({ foundations, operationKeys, borrowerIndex, formats }: Parts): SealedBorrowerVault => {
  const { keys, engines, logger, observability } = foundations;
  return new SealedBorrowerVault({
    keys: operationKeys,
    digestKey: keys.fingerprints,
    index: borrowerIndex,
    formats,
    events: engines.eventStore,
    onMissing: ({ stream, message }) => {
      observability.metrics?.work.keyMissing();
      logger.error({ event: 'key_missing', stream }, message);
    },
  });
};

const commandsOf = ({ foundations, keptOperations, ownWrites, renegotiation }: Parts): CommandHandler => {
  const { clock, engines, observability } = foundations;
  return new CommandHandler({
    events: engines.eventStore,
    cache: keptOperations,
    clock,
    resolve: (id) => renegotiation.resolve(id),
    pause,
    watch: observability.commands,
    onAppended: (...appended) => ownWrites.note(...appended),
  });
};

const renegotiationOf = (parts: Parts): Renegotiation => {
  const { vault, keptOperations, ownWrites } = parts;
  const { clock, realClock, engines } = parts.foundations;
  const { store: documents, inspector } = parts.documents;
  return new Renegotiation({
    events: engines.eventStore,
    ...{ clock, realClock, vault, documents, inspector, pause },
    forget: (stream) => keptOperations.delete(stream),
    onAppended: (...appended) => ownWrites.note(...appended),
  });
};

const administratorOf = ({ foundations, commands, formats, checkpoints }: Parts): Administrator => {
  const { clock, configuration, engines, observability, logger } = foundations;
  return new Administrator({
    ...{ commands, formats, clock, pause },
    events: engines.eventStore,
    readModel: engines.readModelDatabase,
    disbursementTolerance: configuration.disbursementTolerance,
    deadLetterFile: (path = join(configuration.dataDir, DEAD_LETTER_FILE)) => new FileDeadLetters(path),
    onPutAside: (reason) => observability.metrics?.work.deadLetter(reason),
    ...(configuration.environment === 'sandbox' && {
      sandbox: () => ({
        subscription: observability.follower(
          'sandbox-administrator',
          throttled(engines.eventStore, ADMINISTRATOR_PAUSE_MS),
        ),
        checkpoints,
        logger,
        sleep: pause,
        step: configuration.sandboxStep,
      }),
    }),
  });
};

const tokensOf = ({ foundations, signingKeys }: Parts): JwtTokens => {
  const { configuration, realClock } = foundations;
  const { authUrl: issuer, publicUrl: audience, environment } = configuration;
  const settings = { issuer, audience, environment, cacheBytes: cacheBytes(configuration, 'tokens') };
  return new JwtTokens(signingKeys, realClock, settings);
};

const sandboxClockOf = ({ foundations }: Parts): SandboxClock | undefined => {
  const { engines, movableClock: clock, realClock, logger } = foundations;
  if (!clock) return undefined;
  const offset = new SqlClockOffset(engines.serviceDatabase, realClock);
  return new SandboxClock({ clock, realClock, offset, logger, sleep: pause });
};

type Makers = { readonly [Name in keyof Parts]: (parts: Parts) => Parts[Name] };

const makersOf = (foundations: Foundations): Makers => {
  const { configuration, engines, keys, realClock, logger } = foundations;
  const { serviceDatabase, readModelDatabase } = engines;
  return {
    foundations: () => foundations,
    formats: () => new StoredFormats(serviceDatabase),
    checkpoints: () => new SqlCheckpointStore(serviceDatabase, realClock),
    leases: () => new SqlLeases(serviceDatabase),
    clientRegistry: () => new SqlClientRegistry(serviceDatabase),
    relayQuarantine: () => new RelayQuarantine(serviceDatabase),
    projectionStore: () => new SqlProjectionStore(readModelDatabase),
    keyStore: () => new SqlKeyStore(serviceDatabase, realClock),
    dataKeys: ({ keyStore }) => new WrappedKeys(keyStore, keys.masterKeys, 'data-keys'),
    operationKeys: ({ keyStore }) =>
      new OperationKeys(
        new WrappedKeys(keyStore, keys.masterKeys, 'operation-keys'),
        cacheBytes(configuration, 'operationKeys'),
      ),
    borrowerIndex: () => new SqlBorrowerIndex(serviceDatabase),
    vault: vaultOf,
    documents: documentsOf,
    readModels: readModelsOf,
    ownWrites: () => new OwnWrites(cacheBytes(configuration, 'ownWrites')),
    // What follows the log decides now and then, and on other operations than requests do.
    keptOperations: () => {
      const share = configuration.roles.includes('api') ? 'operations' : 'followedOperations';
      return new KeptOperations(cacheBytes(configuration, share));
    },
    commands: commandsOf,
    renegotiation: renegotiationOf,
    publication: publicationOf,
    relay: relayOf,
    webhooks: webhooksOf,
    administrator: administratorOf,
    scheduling: schedulingOf,
    signingKeys: ({ keyStore }) => {
      const store = new WrappedKeys(keyStore, keys.masterKeys, 'signing-keys');
      return new TokenSigningKeys({ store, clock: realClock, logger });
    },
    tokens: tokensOf,
    app: appOf,
    sandboxClock: sandboxClockOf,
  };
};

/** What was chosen at the start, and what is built from it: each part is made once, when it is first asked for. */
export const partsOf = (foundations: Foundations): Parts => {
  const container = new Container({ defaultScope: 'Singleton' });
  const makers = Object.entries(makersOf(foundations)).map(([name, make]) => {
    container.bind<unknown>(name).toDynamicValue(() => make(parts));
    return [name, () => container.get<unknown>(name)];
  });
  const parts: Parts = lazily(Object.fromEntries(makers) as { [Name in keyof Parts]: () => Parts[Name] });
  return parts;
};
