import { join } from 'node:path';
import type { Container } from 'inversify';
import { createHttpApp } from '../http/app.ts';
import { UploadArea } from '../http/bodies/upload-area.ts';
import { HttpProblem } from '../http/errors/http-problem.ts';
import type { UseCases } from '../http/resources/endpoints.ts';
import { healthApp } from '../http/server/health-app.ts';
import type { Readiness, RequestListener } from '../http/server/health-app.ts';
import { TOKENS } from './container.ts';

/** What this process answers; to be closed when the last request has been answered. */
export interface HttpInterface {
  readonly listener: RequestListener;
  close(): Promise<void>;
}

/** The use cases as the HTTP interface calls them. */
const useCasesOf = (container: Container): UseCases => {
  const { assign, settle, prepay, repurchase, quotes, addDocuments, renegotiate } = container.get(
    TOKENS.loans,
  );
  const reading = container.get(TOKENS.loanReading);
  return {
    assignLoan: assign.execute.bind(assign),
    settleInstallment: settle.execute.bind(settle),
    processPrepayment: prepay.execute.bind(prepay),
    requestRepurchase: repurchase.execute.bind(repurchase),
    quoteSettlement: quotes.settlement.bind(quotes),
    quotePrepayment: quotes.prepayment.bind(quotes),
    quoteRepurchase: quotes.repurchase.bind(quotes),
    addDocuments: addDocuments.execute.bind(addDocuments),
    renegotiateLoans: renegotiate.execute.bind(renegotiate),
    quoteRenegotiation: renegotiate.quote.bind(renegotiate),
    readLoan: reading.read.bind(reading),
    readDocument: reading.document.bind(reading),
    listLoans: reading.list.bind(reading),
    webhooks: container.get(TOKENS.webhooks).management,
    sandboxClock: container.get(TOKENS.sandboxClock),
  };
};

const wholeInterface = async (
  container: Container,
  readiness: () => Promise<Readiness>,
): Promise<HttpInterface> => {
  const { configuration, clock, logger, observability } = container.get(TOKENS.foundations);
  const { environment, publicUrl, authUrl, trustProxy, apiDeprecation } = configuration;
  const uploads = await UploadArea.open(join(configuration.dataDir, 'uploads'));
  const { tokens, authenticator, directory } = container.get(TOKENS.access);
  const listener = await createHttpApp({
    settings: {
      environment,
      publicUrl,
      authUrl,
      trustedHops: trustProxy,
      ...(apiDeprecation !== undefined && { deprecation: apiDeprecation }),
    },
    useCases: useCasesOf(container),
    tokens: { issuer: tokens, verifier: tokens },
    authenticator,
    clients: directory,
    limiter: container.get(TOKENS.rateLimiter),
    uploads,
    readiness,
    clock,
    logger,
    watch: observability.requests,
  });
  return { listener, close: () => uploads.close() };
};

/** With the role `api` the whole interface; without it only the health checks. */
export const httpInterface = async (
  container: Container,
  readiness: () => Promise<Readiness>,
): Promise<HttpInterface> => {
  const { roles } = container.get(TOKENS.foundations).configuration;
  if (roles.includes('api')) return wholeInterface(container, readiness);
  const listener = healthApp({
    readiness,
    otherwise: () => new HttpProblem('not_found', 'This process does not serve the interface.'),
  });
  return { listener, close: async () => undefined };
};
