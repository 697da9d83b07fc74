import { Worklists } from '../../application/administrator/worklists.ts';
import { SqlSealBook } from '../../application/audit/seals/seal-book.ts';
import { SqlClientRegistry } from '../../application/clients/client-registry.ts';
import { SqlKeyStore } from '../../application/coordination/key-store.ts';
import { SqlLeases } from '../../application/coordination/leases.ts';
import { SqlCheckpointStore } from '../../application/coordination/stored-places.ts';
import { SqlLoanReader } from '../../application/loans/loan-reader.ts';
import { SqlClockOffset } from '../../application/maintenance/sandbox/sandbox-clock.ts';
import { SqlBorrowerIndex } from '../../application/privacy/borrower-index.ts';
import { SqlProjectionStore } from '../../application/projecting/projection-store.ts';
import type { SqlDatabase } from '../../application/sql/sql-database.ts';
import { DeliveryComparison } from '../../application/webhooks/delivery-comparison.ts';
import { WebhookSubscriptions } from '../../application/webhooks/subscriptions.ts';
import { WebhookDesk } from '../../application/webhooks/webhook-desk.ts';
import { webhookSecrets } from '../../application/webhooks/webhook-secrets.ts';
import { rowsByStream, storeOfKnown } from '../support/known-operations.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { describeBorrowerIndexContract } from './borrower-index-contract.ts';
import { describeCheckpointStoreContract } from './checkpoint-store-contract.ts';
import { describeClientRegistryContract } from './client-registry-contract.ts';
import { describeClockOffsetContract } from './clock-offset-contract.ts';
import { describeConsumerOffsetsContract } from './consumer-offsets-contract.ts';
import { offsetsOver } from './consumer-offsets-samples.ts';
import { describeDeliveryComparisonContract } from './delivery-comparison-contract.ts';
import { describeDeliveryQueueContract } from './delivery-queue-contract.ts';
import { describeDeskContract } from './desk-contract.ts';
import { describeDeskSessionsContract } from './desk-sessions-contract.ts';
import { describeFundSideContract } from './fund-side-contract.ts';
import { describeKeyStoreContract } from './key-store-contract.ts';
import { describeLeasesContract } from './leases-contract.ts';
import { describeLoanReaderContract } from './loan-reader-contract.ts';
import { projectInto } from './loan-reader-samples.ts';
import { describeOperationSearchContract } from './operation-search-contract.ts';
import { describeOperationStatesContract } from './operation-states-contract.ts';
import { describeProjectionStoreContract } from './projection-store-contract.ts';
import { describeRangeRedeliveryContract, rangesOn } from './range-redelivery-contract.ts';
import { describeSealBookContract } from './seal-book-contract.ts';
import { describeWebhookDeskContract, queueOn } from './webhook-desk-contract.ts';
import { describeWebhookSecretsContract } from './webhook-secrets-contract.ts';
import { describeWebhookSubscriptionsContract } from './webhook-subscriptions-contract.ts';

type Open = () => Promise<{ readonly database: SqlDatabase; close(): Promise<void> }>;

/** Every port over SQL keeps its promises on this engine. */
export const describeSqlPorts = (engine: string, service: Open, readModel: Open): void => {
  const on =
    <Parts>(open: Open, parts: (database: SqlDatabase) => Parts) =>
    async () => {
      const { database, close } = await open();
      return { ...parts(database), close };
    };
  const named = (port: string): string => `${port} on ${engine}`;
  const project = (database: SqlDatabase) => projectInto(new SqlProjectionStore(database));

  describeCheckpointStoreContract(
    named('SqlCheckpointStore'),
    on(service, (database) => ({ store: new SqlCheckpointStore(database, new ManualClock()) })),
  );
  describeBorrowerIndexContract(
    named('SqlBorrowerIndex'),
    on(service, (database) => ({ index: new SqlBorrowerIndex(database) })),
  );
  describeClientRegistryContract(
    named('SqlClientRegistry'),
    on(service, (database) => ({ registry: new SqlClientRegistry(database) })),
  );
  describeOperationSearchContract(
    named('SqlOperationSearch'),
    on(readModel, (database) => ({ database, project: project(database) })),
  );
  describeDeskContract(engine, readModel);
  describeDeskSessionsContract(engine, service);
  describeOperationStatesContract(
    named('the read model'),
    on(readModel, (database) => ({
      ...{ database, worklists: new Worklists(database), project: project(database) },
    })),
  );
  describeFundSideContract(engine, readModel);
  describeKeyStoreContract(
    named('SqlKeyStore'),
    on(service, (database) => ({ store: new SqlKeyStore(database, new ManualClock()) })),
  );
  describeSealBookContract(
    named('SqlSealBook'),
    on(service, (database) => ({ book: new SqlSealBook(database) })),
  );
  describeWebhookSecretsContract(
    engine,
    on(service, (database) => ({
      secrets: webhookSecrets(database),
      subscriptions: new WebhookSubscriptions(database),
      keys: new SqlKeyStore(database, new ManualClock()),
    })),
  );
  describeClockOffsetContract(
    named('SqlClockOffset'),
    on(service, (database) => {
      const view = (): SqlClockOffset => new SqlClockOffset(database, new ManualClock());
      return { views: [view(), view()] as const };
    }),
  );
  describeLeasesContract(
    named('SqlLeases'),
    on(service, (database) => ({ leases: new SqlLeases(database) })),
  );
  describeLoanReaderContract(
    named('SqlLoanReader'),
    on(readModel, (database) => ({ reader: new SqlLoanReader(database), project: project(database) })),
  );
  describeProjectionStoreContract(
    named('SqlProjectionStore'),
    on(readModel, (database) => ({
      store: storeOfKnown(database),
      rows: (table: string) => rowsByStream(database, table),
    })),
  );
  describeDeliveryComparisonContract(
    named('DeliveryComparison'),
    on(service, (database) => ({
      comparison: new DeliveryComparison(database),
      adapter: queueOn(database),
    })),
  );
  describeWebhookDeskContract(
    named('WebhookDesk'),
    on(service, (database) => ({ desk: new WebhookDesk(database), adapter: queueOn(database) })),
  );
  describeWebhookSubscriptionsContract(
    named('WebhookSubscriptions'),
    on(service, (database) => ({ store: new WebhookSubscriptions(database) })),
  );
  describeDeliveryQueueContract(
    named('DeliveryQueue'),
    on(service, (database) => ({ adapter: queueOn(database) })),
  );
  describeRangeRedeliveryContract(
    named('RangeRedeliveries'),
    on(service, (database) => ({ adapter: rangesOn(database) })),
  );
  describeConsumerOffsetsContract(
    named('ConsumerOffsets'),
    on(service, (database) => ({ adapter: offsetsOver(database) })),
  );
};
