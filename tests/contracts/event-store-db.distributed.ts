import { EventStoreDbStore } from '../../infrastructure/eventstoredb/event-store-db-store.ts';
import { EventStoreDbStandIn } from '../support/eventstoredb/stand-in.ts';
import { StandInProcess } from '../support/eventstoredb/stand-in-process.ts';
import { describeEventStoreContract } from './event-store-contract.ts';

const url = process.env['EVENTSTORE_URL'];

if (url === undefined) {
  describeEventStoreContract(
    'EventStoreDbStore at a stand-in that is a process with a disk',
    async () => {
      const server = await StandInProcess.start();
      const store = new EventStoreDbStore({ url: server.url });
      return {
        store,
        close: async () => {
          await store.close();
          await server.kill();
        },
      };
    },
    60_000,
  );

  describeEventStoreContract(
    'EventStoreDbStore at a stand-in where an append that is under way already times out',
    async () => {
      const server = await EventStoreDbStandIn.start();
      server.faults.equalAppendsTimeOutAfterMs = 2_000;
      const store = new EventStoreDbStore({ url: server.url });
      return {
        store,
        close: async () => {
          await store.close();
          await server.kill();
        },
      };
    },
    60_000,
  );
} else {
  describeEventStoreContract(
    'EventStoreDbStore at the server of EVENTSTORE_URL',
    async () => {
      const store = new EventStoreDbStore({ url });
      return { store, close: () => store.close() };
    },
    60_000,
  );
}
