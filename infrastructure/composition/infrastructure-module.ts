import { ContainerModule } from 'inversify';
import { FileDocumentInspector } from '../documents/file-document-inspector.ts';
import { PdfChecker } from '../documents/pdf-checker.ts';
import { HashedClientAuthenticator } from '../security/hashed-client-authenticator.ts';
import { JwtTokens } from '../security/jwt-tokens.ts';
import { OperationKeys } from '../security/operation-keys.ts';
import { SealedBorrowerVault } from '../security/sealed-borrower-vault.ts';
import { TokenSigningKeys } from '../security/token-signing-keys.ts';
import { WrappedKeys } from '../security/wrapped-keys.ts';
import { SqlBorrowerIndex } from '../sql/borrower-index.ts';
import { SqlCheckpointStore } from '../sql/checkpoint-store.ts';
import { SqlClientRegistry } from '../sql/client-registry.ts';
import { SqlDueInstallments } from '../sql/read-models/due-installments.ts';
import { SqlKeyStore } from '../sql/key-store.ts';
import { SqlLoanReader } from '../sql/read-models/loan-reader.ts';
import { SqlProjectionStore } from '../sql/read-models/projection-store.ts';
import { SqlRelayQuarantine } from '../sql/relay-quarantine.ts';
import { SqlStoredFormats } from '../sql/stored-formats.ts';
import { openDocuments } from './documents.ts';
import { TOKENS } from './tokens.ts';

/** Adapters and security, bound to the ports that they implement. */
export const infrastructureModule = new ContainerModule(({ bind }) => {
  const { serviceDatabase, readModelDatabase, keys, realClock, logger, configuration } = TOKENS;

  bind(TOKENS.storedFormats).toResolvedValue((db) => new SqlStoredFormats(db), [serviceDatabase]);
  bind(TOKENS.relayQuarantine).toResolvedValue((db) => new SqlRelayQuarantine(db), [serviceDatabase]);
  bind(TOKENS.keyStore).toResolvedValue(
    (db, time) => new SqlKeyStore(db, time),
    [serviceDatabase, realClock],
  );
  bind(TOKENS.checkpoints).toResolvedValue(
    (db, time) => new SqlCheckpointStore(db, time),
    [serviceDatabase, realClock],
  );
  bind(TOKENS.clientRegistry).toResolvedValue((db) => new SqlClientRegistry(db), [serviceDatabase]);
  bind(TOKENS.projectionStore).toResolvedValue((db) => new SqlProjectionStore(db), [readModelDatabase]);
  bind(TOKENS.loanReader).toResolvedValue((db) => new SqlLoanReader(db), [readModelDatabase]);
  bind(TOKENS.dueInstallments).toResolvedValue((db) => new SqlDueInstallments(db), [readModelDatabase]);

  bind(TOKENS.borrowerIndex).toResolvedValue((db) => new SqlBorrowerIndex(db), [serviceDatabase]);
  bind(TOKENS.operationKeys).toResolvedValue(
    (store, { masterKeys }) => new OperationKeys(new WrappedKeys(store, masterKeys, 'operation-keys')),
    [TOKENS.keyStore, keys],
  );
  bind(TOKENS.borrowerVault).toResolvedValue(
    (operationKeys, { fingerprints }, index, formats) =>
      new SealedBorrowerVault(operationKeys, fingerprints, index, formats),
    [TOKENS.operationKeys, keys, TOKENS.borrowerIndex, TOKENS.storedFormats],
  );
  bind(TOKENS.documents).toResolvedValue(
    (settings, operationKeys) => openDocuments(settings, operationKeys),
    [configuration, TOKENS.operationKeys],
  );
  bind(TOKENS.pdfChecker).toResolvedValue(() => new PdfChecker(), []);
  bind(TOKENS.inspector).toResolvedValue(
    // A sandbox takes hand-made files that only look like a PDF; production has each one parsed.
    ({ environment }, checker) =>
      new FileDocumentInspector(environment === 'production' ? checker : undefined),
    [configuration, TOKENS.pdfChecker],
  );
  bind(TOKENS.signingKeys).toResolvedValue(
    (store, { masterKeys }, time, log) => {
      const signing = new WrappedKeys(store, masterKeys, 'signing-keys');
      return new TokenSigningKeys({ store: signing, clock: time, logger: log });
    },
    [TOKENS.keyStore, keys, realClock, logger],
  );
  bind(TOKENS.tokens).toResolvedValue(
    (signingKeys, time, { authUrl, publicUrl, environment }) =>
      new JwtTokens(signingKeys, time, { issuer: authUrl, audience: publicUrl, environment }),
    [TOKENS.signingKeys, realClock, configuration],
  );
  bind(TOKENS.authenticator).toResolvedValue(
    (registry, formats) => new HashedClientAuthenticator(registry, formats),
    [TOKENS.clientRegistry, TOKENS.storedFormats],
  );
});
