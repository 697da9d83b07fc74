import { InMemoryClientRegistry } from '../support/in-memory-client-registry.ts';
import { InMemoryKeyStore } from '../support/in-memory-key-store.ts';
import { openReadModel, openServiceDatabase } from '../support/sql/temporary-database.ts';
import { describeClientRegistryContract } from './client-registry-contract.ts';
import { describeKeyStoreContract } from './key-store-contract.ts';
import { describeSqlPorts } from './sql-ports.ts';

describeSqlPorts('SQLite', openServiceDatabase, openReadModel);

const close = async (): Promise<void> => undefined;
describeKeyStoreContract('InMemoryKeyStore', async () => ({ store: new InMemoryKeyStore(), close }));
describeClientRegistryContract('InMemoryClientRegistry', async () => ({
  registry: new InMemoryClientRegistry(),
  close,
}));
