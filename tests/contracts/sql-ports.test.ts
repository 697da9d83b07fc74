import { InMemoryClientRegistry } from '../support/in-memory-client-registry.ts';
import { InMemoryKeyStore } from '../support/in-memory-key-store.ts';
import { openReadModel, openServiceDatabase } from '../support/sql/temporary-database.ts';
import { clientRegistryCases } from './client-registry-contract.ts';
import { keyStoreCases } from './key-store-contract.ts';
import { describePromises } from './promises.ts';
import { describeSqlPorts } from './sql-ports.ts';

describeSqlPorts('SQLite', openServiceDatabase, openReadModel);

const inMemory =
  <Port>(port: Port) =>
  async () => ({ port, close: async () => undefined });
describePromises('InMemoryKeyStore', keyStoreCases, inMemory(new InMemoryKeyStore()));
describePromises('InMemoryClientRegistry', clientRegistryCases, inMemory(new InMemoryClientRegistry()));
