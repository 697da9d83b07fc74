import { OwnWrites } from '../../../application/loans/own-writes.ts';
import { OperationKeys } from '../../security/operation-keys.ts';
import { SealedBorrowerVault } from '../../security/sealed-borrower-vault.ts';
import { WrappedKeys } from '../../security/wrapped-keys.ts';
import { SqlBorrowerIndex } from '../../../application/privacy/borrower-index.ts';
import { SqlCheckpointStore } from '../../../application/coordination/stored-places.ts';
import { SqlLeases } from '../../../application/coordination/leases.ts';
import { SqlClientRegistry } from '../../../application/clients/client-registry.ts';
import { SqlKeyStore } from '../../../application/coordination/key-store.ts';
import { SqlProjectionStore } from '../../../application/projecting/projection-store.ts';
import { RelayQuarantine } from '../../../application/publication/relay-quarantine.ts';
import { StoredFormats } from '../../../application/event-codec/stored-formats.ts';
import { cacheBytes } from '../cache-shares.ts';
import type { Foundations } from '../foundations.ts';

/** The adapters that several areas share. */
export const adapterArea = ({
  configuration,
  engines,
  keys,
  realClock,
  logger,
  observability,
}: Foundations) => {
  const { serviceDatabase, readModelDatabase } = engines;
  const ownWrites = new OwnWrites(cacheBytes(configuration, 'ownWrites'));
  const formats = new StoredFormats(serviceDatabase);
  const keyStore = new SqlKeyStore(serviceDatabase, realClock);
  const operationKeys = new OperationKeys(
    new WrappedKeys(keyStore, keys.masterKeys, 'operation-keys'),
    cacheBytes(configuration, 'operationKeys'),
  );
  const borrowerIndex = new SqlBorrowerIndex(serviceDatabase);
  return {
    ownWrites,
    events: engines.eventStore,
    formats,
    checkpoints: new SqlCheckpointStore(serviceDatabase, realClock),
    leases: new SqlLeases(serviceDatabase),
    clientRegistry: new SqlClientRegistry(serviceDatabase),
    relayQuarantine: new RelayQuarantine(serviceDatabase),
    projectionStore: new SqlProjectionStore(readModelDatabase),
    keyStore,
    dataKeys: new WrappedKeys(keyStore, keys.masterKeys, 'data-keys'),
    operationKeys,
    borrowerIndex,
    vault: new SealedBorrowerVault({
      keys: operationKeys,
      digestKey: keys.fingerprints,
      index: borrowerIndex,
      formats,
      events: engines.eventStore,
      onMissing: ({ stream, message }) => {
        observability.metrics?.work.keyMissing();
        logger.error({ event: 'key_missing', stream }, message);
      },
    }),
  };
};

export type Adapters = ReturnType<typeof adapterArea>;
