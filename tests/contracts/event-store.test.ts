import { InMemoryEventStore } from '../support/in-memory-event-store.ts';
import { describeEventStoreContract } from './event-store-contract.ts';

describeEventStoreContract('InMemoryEventStore', async () => ({
  store: new InMemoryEventStore(),
  close: async () => undefined,
}));
