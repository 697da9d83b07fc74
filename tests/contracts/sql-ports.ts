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
import { WebhookSubscriptions, webhookSecrets } from '../../application/webhooks/subscriptions.ts';
import { WebhookDesk } from '../../application/webhooks/webhook-desk.ts';
import { emptied, rowsByStream, storeOfKnown } from '../support/known-operations.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { borrowerIndexCases } from './borrower-index-contract.ts';
import { checkpointStoreCases } from './checkpoint-store-contract.ts';
import { clientRegistryCases } from './client-registry-contract.ts';
import { describeClockOffsetContract } from './clock-offset-contract.ts';
import { consumerOffsetsCases } from './consumer-offsets-contract.ts';
import { offsetsOver } from './consumer-offsets-samples.ts';
import { describeDeliveryComparisonContract } from './delivery-comparison-contract.ts';
import { deliveryQueueCases } from './delivery-queue-contract.ts';
import { describeDeskContract } from './desk-contract.ts';
import { describeDeskSessionsContract } from './desk-sessions-contract.ts';
import { FundUnderTest } from './fund-side-samples.ts';
import { keyStoreCases } from './key-store-contract.ts';
import { describeLeasesContract } from './leases-contract.ts';
import { loanReaderCases } from './loan-reader-contract.ts';
import { projectInto } from './loan-reader-samples.ts';
import { portfolioCases } from './portfolio-cases.ts';
import { describePromises } from './promises.ts';
import type { Promised } from './promises.ts';
import { reconciliationCases } from './reconciliation-cases.ts';
import { describeOperationSearchContract } from './operation-search-contract.ts';
import { describeOperationStatesContract } from './operation-states-contract.ts';
import { projectionStoreCases } from './projection-store-contract.ts';
import { rangeCases, rangesOn } from './range-redelivery-contract.ts';
import { describeSealBookContract } from './seal-book-contract.ts';
import { describeWebhookDeskContract } from './webhook-desk-contract.ts';
import { describeWebhookSecretsContract } from './webhook-secrets-contract.ts';
import { webhookSubscriptionsCases } from './webhook-subscriptions-contract.ts';
import { queueOn } from './delivery-queue-samples.ts';

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
  const kept = <Port>(
    open: Open,
    name: string,
    promises: readonly Promised<Port>[],
    portOf: (database: SqlDatabase) => Port,
  ): void =>
    describePromises(
      named(name),
      promises,
      on(open, (database) => ({ port: portOf(database) })),
    );
  const project = (database: SqlDatabase) => projectInto(new SqlProjectionStore(database));
  const keyStore = (database: SqlDatabase): SqlKeyStore => new SqlKeyStore(database, new ManualClock());

  kept(
    service,
    'SqlCheckpointStore',
    checkpointStoreCases,
    (database) => new SqlCheckpointStore(database, new ManualClock()),
  );
  kept(service, 'SqlBorrowerIndex', borrowerIndexCases, (database) => new SqlBorrowerIndex(database));
  kept(service, 'SqlClientRegistry', clientRegistryCases, (database) => new SqlClientRegistry(database));
  kept(service, 'SqlKeyStore', keyStoreCases, keyStore);
  kept(
    service,
    'WebhookSubscriptions',
    webhookSubscriptionsCases,
    (database) => new WebhookSubscriptions(database),
  );
  kept(service, 'DeliveryQueue', deliveryQueueCases, queueOn);
  kept(service, 'RangeRedeliveries', rangeCases, rangesOn);
  kept(service, 'ConsumerOffsets', consumerOffsetsCases, offsetsOver);
  kept(readModel, 'SqlLoanReader', loanReaderCases, (database) => ({
    ...{ reader: new SqlLoanReader(database), project: project(database) },
  }));
  kept(readModel, 'SqlProjectionStore', projectionStoreCases, (database) => ({
    store: storeOfKnown(database),
    rows: (table) => rowsByStream(database, table),
    empty: (projection) => emptied(database, projection),
  }));
  const ofTheFund = [...portfolioCases, ...reconciliationCases].map(({ name, check }) => ({
    name,
    check: (database: SqlDatabase) => check(new FundUnderTest(database)),
  }));
  kept(readModel, "the fund's read models", ofTheFund, (database) => database);

  describeLeasesContract(
    named('SqlLeases'),
    on(service, (database) => ({ leases: new SqlLeases(database) })),
  );
  describeSealBookContract(
    named('SqlSealBook'),
    on(service, (database) => ({ book: new SqlSealBook(database) })),
  );
  describeClockOffsetContract(
    named('SqlClockOffset'),
    on(service, (database) => {
      const view = (): SqlClockOffset => new SqlClockOffset(database, new ManualClock());
      return { views: [view(), view()] as const };
    }),
  );
  describeWebhookSecretsContract(
    engine,
    on(service, (database) => ({
      secrets: webhookSecrets(database),
      subscriptions: new WebhookSubscriptions(database),
      keys: keyStore(database),
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
  describeDeskSessionsContract(engine, service);
  describeDeskContract(engine, readModel);
  describeOperationSearchContract(
    named('SqlOperationSearch'),
    on(readModel, (database) => ({ database, project: project(database) })),
  );
  describeOperationStatesContract(
    named('the read model'),
    on(readModel, (database) => ({
      ...{ database, worklists: new Worklists(database), project: project(database) },
    })),
  );
};
