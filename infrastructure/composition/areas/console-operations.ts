import { randomUUID } from 'node:crypto';
import type { Container } from 'inversify';
import { ShowOperation } from '../../../application/audit/show-operation.ts';
import type { RequestContext } from '../../../application/ports/clients.ts';
import { MOST_STREAMS } from '../../../application/ports/operation-search.ts';
import type { FoundOperation, OperationQuery } from '../../../application/ports/operation-search.ts';
import { borrowerDigest } from '../../../application/privacy/forget-borrower.ts';
import { printedRows } from '../../cli/columns.ts';
import type { Column } from '../../cli/columns.ts';
import type { OperationFilter, OperationServices } from '../../console/services.ts';
import { SqlOperationSearch } from '../../sql/read-models/operation-search.ts';
import { SqlDeliveryLog } from '../../sql/webhooks/delivery-log.ts';
import { SqlWebhookSubscriptions } from '../../sql/webhooks/subscriptions.ts';
import { TOKENS } from '../container.ts';
import { maskedBorrower } from './masked-borrowers.ts';
import { privacyServices } from './privacy.ts';
import { translatorOfEvents } from './publishing.ts';

/** The console sees every application with all its funds, as the command line does. */
const contextOf = (applicationId: string): RequestContext => ({
  applicationId,
  clientId: 'operator',
  requestId: randomUUID(),
  fundIds: [],
});

/** As `loan list` writes them. */
const COLUMNS: readonly Column<FoundOperation>[] = [
  { name: 'application_id', of: (one) => one.applicationId },
  { name: 'originator_proposal_code', of: (one) => one.code },
  { name: 'fund_id', of: (one) => one.fundId },
  { name: 'status', of: (one) => one.status },
  { name: 'product_type', of: (one) => one.productType },
  { name: 'acquisition_value', of: (one) => one.acquisitionValue, amount: true },
  { name: 'received_value', of: (one) => one.receivedValue, amount: true },
  { name: 'number_of_installments', of: (one) => one.numberOfInstallments },
  { name: 'date_issued', of: (one) => one.dateIssued },
  { name: 'received_at', of: (one) => one.receivedAt },
  { name: 'updated_at', of: (one) => one.updatedAt },
];
const EXPORTED_AT_ONCE = 1_000;

/** Operations by code, fund, state and day, and by their borrower: the index of borrowers says which those are. */
const searchServices = (container: Container): Pick<OperationServices, 'search' | 'csv'> => {
  const foundations = container.get(TOKENS.foundations);
  const adapters = container.get(TOKENS.adapters);
  const { vault, borrowerIndex } = adapters;
  const { indexing } = privacyServices(
    foundations,
    adapters,
    container.get(TOKENS.commands),
    container.get(TOKENS.documents),
  );
  const search = new SqlOperationSearch(foundations.engines.readModelDatabase);
  const queryOf = async ({
    document,
    ...filter
  }: OperationFilter): Promise<Omit<OperationQuery, 'after' | 'limit'>> => {
    if (document === undefined) return filter;
    await indexing.completeOnce(() => undefined);
    const streams = await borrowerIndex.streamsOf(borrowerDigest(vault, document));
    return { ...filter, streams: streams.slice(0, MOST_STREAMS) };
  };
  const masked = maskedBorrower(vault);
  const everyOne = async function* (filter: OperationFilter, signal: AbortSignal) {
    const query = await queryOf(filter);
    let page = await search.find({ ...query, limit: EXPORTED_AT_ONCE });
    for (;;) {
      yield* page.operations;
      if (page.next === undefined || signal.aborted) return;
      page = await search.find({ ...query, after: page.next, limit: EXPORTED_AT_ONCE });
    }
  };
  return {
    search: async ({ after, limit, ...filter }) => {
      const query = await queryOf(filter);
      const { operations, next } = await search.find({ ...query, ...(after && { after }), limit });
      const documents = await Promise.all(operations.map(masked));
      return { operations: operations.map((one, i) => ({ ...one, document: documents[i]! })), next };
    },
    csv: (filter, signal) => printedRows(COLUMNS, everyOne(filter, signal), { format: 'csv', colour: false }),
  };
};

/** Operations as the pages of the console show them. */
export const operationServices = (container: Container): OperationServices => {
  const { engines } = container.get(TOKENS.foundations);
  const adapters = container.get(TOKENS.adapters);
  const { events, vault, clientRegistry } = adapters;
  const reading = container.get(TOKENS.loanReading);
  const showing = new ShowOperation({ events, vault });
  const log = new SqlDeliveryLog(engines.serviceDatabase);
  const subscriptions = new SqlWebhookSubscriptions(engines.serviceDatabase);
  const translator = translatorOfEvents(adapters);
  return {
    ...searchServices(container),
    show: (request) => showing.execute(request),
    read: (applicationId, code) => reading.read(contextOf(applicationId), code),
    document: (applicationId, code, documentId) =>
      reading.document(contextOf(applicationId), code, documentId),
    deliveries: async (recorded) => {
      const published = await translator.translate(recorded);
      const found = await log.ofEvents(published.map(({ eventId }) => eventId));
      const known = await subscriptions.ofApplications(
        published.slice(0, 1).map(({ applicationId }) => applicationId),
      );
      const urls = new Map(known.map(({ webhookId, url }) => [webhookId, url]));
      return found.map((one) => ({ ...one, url: urls.get(one.webhookId) ?? '' }));
    },
    clientNames: async (actors) => {
      const clients = await Promise.all([...new Set(actors)].map((actor) => clientRegistry.find(actor)));
      return new Map(
        clients.flatMap((client) => (client === undefined ? [] : [[client.clientId, client.name] as const])),
      );
    },
  };
};
