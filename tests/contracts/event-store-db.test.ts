import { EventStoreDbStore } from '../../infrastructure/eventstoredb/event-store-db-store.ts';
import { EventStoreDbStandIn } from '../support/eventstoredb/stand-in.ts';
import { describeEventStoreContract } from './event-store-contract.ts';

describeEventStoreContract('EventStoreDbStore at the stand-in', async () => {
  const server = await EventStoreDbStandIn.start();
  const store = new EventStoreDbStore({ url: server.url });
  return {
    store,
    close: async () => {
      await store.close();
      await server.kill();
    },
  };
});
