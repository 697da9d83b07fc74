import type { EventStoreDbOptions } from '../../../infrastructure/eventstoredb/event-store-db-store.ts';
import { EventStoreDbStore } from '../../../infrastructure/eventstoredb/event-store-db-store.ts';
import { EventStoreDbStandIn } from './stand-in.ts';
import type { StandInOptions } from './stand-in.ts';

export interface StoreAtStandIn extends AsyncDisposable {
  readonly server: EventStoreDbStandIn;
  readonly store: EventStoreDbStore;
}

/** A store of the product at a stand-in of its own; both go when the test goes. */
export const openAtStandIn = async (
  options: Partial<EventStoreDbOptions> = {},
  standIn: StandInOptions = {},
): Promise<StoreAtStandIn> => {
  const server = await EventStoreDbStandIn.start(standIn);
  const store = new EventStoreDbStore({ url: server.url, ...options });
  return {
    server,
    store,
    [Symbol.asyncDispose]: async () => {
      await store.close();
      await server.kill();
    },
  };
};
