import { OwnWrites, noting } from '../../../application/loans/own-writes.ts';
import { RecordedForgetting } from '../../../application/privacy/missing-keys.ts';
import { OperationKeys } from '../../security/operation-keys.ts';
import { SealedBorrowerVault } from '../../security/sealed-borrower-vault.ts';
import { WrappedKeys } from '../../security/wrapped-keys.ts';
import { SqlBorrowerIndex } from '../../sql/borrower-index.ts';
import { SqlCheckpointStore, SqlLeases } from '../../sql/coordination.ts';
import { SqlClientRegistry } from '../../sql/client-registry.ts';
import { SqlKeyStore } from '../../sql/key-store.ts';
import { SqlProjectionStore } from '../../sql/read-models/projection-store.ts';
import { SqlRelayQuarantine } from '../../sql/relay-quarantine.ts';
import { SqlStoredFormats } from '../../sql/stored-formats.ts';
import type { Foundations } from '../foundations.ts';

/** The adapters that several areas share. */
export const adapterArea = ({ engines, keys, realClock, logger, observability }: Foundations) => {
  const { serviceDatabase, readModelDatabase } = engines;
  const ownWrites = new OwnWrites();
  const formats = new SqlStoredFormats(serviceDatabase);
  const keyStore = new SqlKeyStore(serviceDatabase, realClock);
  const operationKeys = new OperationKeys(new WrappedKeys(keyStore, keys.masterKeys, 'operation-keys'));
  const borrowerIndex = new SqlBorrowerIndex(serviceDatabase);
  const sealedVault = new SealedBorrowerVault(operationKeys, keys.fingerprints, borrowerIndex, formats);
  return {
    ownWrites,
    events: noting(engines.eventStore, ownWrites),
    formats,
    checkpoints: new SqlCheckpointStore(serviceDatabase, realClock),
    leases: new SqlLeases(serviceDatabase),
    clientRegistry: new SqlClientRegistry(serviceDatabase),
    relayQuarantine: new SqlRelayQuarantine(serviceDatabase),
    projectionStore: new SqlProjectionStore(readModelDatabase),
    keyStore,
    dataKeys: new WrappedKeys(keyStore, keys.masterKeys, 'data-keys'),
    operationKeys,
    borrowerIndex,
    /** Alarms nobody of a key that is lost. */
    quietVault: new RecordedForgetting(sealedVault, {
      events: engines.eventStore,
      onMissing: () => undefined,
    }),
    vault: new RecordedForgetting(sealedVault, {
      events: engines.eventStore,
      onMissing: ({ stream, message }) => {
        observability.metrics?.work.keyMissing();
        logger.error({ event: 'key_missing', stream }, message);
      },
    }),
  };
};

export type Adapters = ReturnType<typeof adapterArea>;
