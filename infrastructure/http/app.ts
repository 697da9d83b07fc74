import type { Express } from 'express';
import type { BusinessClock } from '../../application/ports/clock.ts';
import type { Logger } from '../../application/ports/logger.ts';
import { UNWATCHED_REQUESTS } from '../../application/ports/request-watch.ts';
import type { RequestWatch } from '../../application/ports/request-watch.ts';
import type { ClientAuthenticator, TokenIssuer, TokenVerifier } from '../../application/ports/clients.ts';
import { addDays } from '../../domain/shared/calendar-date.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import type { UploadArea } from './bodies/upload-area.ts';
import { documentHandlers } from './handlers/documents.ts';
import { docsHandlers } from './handlers/docs.ts';
import { settleInstallment } from './resources/settle-installment.ts';
import { loanHandlers } from './handlers/loans.ts';
import { metaHandlers } from './handlers/meta.ts';
import type { Readiness } from './handlers/meta.ts';
import { postAssignmentHandlers } from './handlers/post-assignment.ts';
import { renegotiationHandlers } from './handlers/renegotiation.ts';
import { sandboxHandlers } from './handlers/sandbox.ts';
import { tokenHandlers } from './handlers/token.ts';
import { webhookHandlers } from './handlers/webhooks.ts';
import type { RateLimiter } from './limits/rate-limiter.ts';
import { openApiDocument } from './openapi/document.ts';
import { API_VERSION } from './openapi/version.ts';
import { Authentication } from './middleware/authentication.ts';
import type { ClientDirectory } from './middleware/authentication.ts';
import { ClientAdmission } from './middleware/client-admission.ts';
import { proxyWarning } from './middleware/request-state.ts';
import { Dispatcher } from './middleware/dispatcher.ts';
import { operationTable } from './operation-table.ts';
import { RateGate } from './middleware/rate-gate.ts';
import { Reception } from './middleware/body-reader.ts';
import { Refusals } from './middleware/error-handler.ts';
import { Responder } from './middleware/responder.ts';
import { routed } from './middleware/router.ts';
import type { RequestRules } from './requests/request-rules.ts';
import type { UseCases } from './resources/use-cases.ts';

export interface HttpSettings {
  readonly environment: 'sandbox' | 'production';
  /** Base addresses as clients see them. */
  readonly publicUrl: string;
  readonly authUrl: string;
  /** How many proxies in front of the service may be believed about the client's address. */
  readonly trustedHops: number;
  /** An announced change that breaks this version: version and day, as the header shows it. */
  readonly deprecation?: string;
}

export interface HttpDependencies {
  readonly settings: HttpSettings;
  readonly useCases: UseCases;
  readonly tokens: { readonly issuer: TokenIssuer; readonly verifier: TokenVerifier };
  readonly authenticator: ClientAuthenticator;
  readonly clients: ClientDirectory;
  readonly limiter: RateLimiter;
  /** Where files wait while their request is handled; it outlives the requests. */
  readonly uploads: UploadArea;
  readonly readiness: () => Promise<Readiness>;
  readonly clock: Pick<BusinessClock, 'today'>;
  readonly logger: Logger;
  readonly watch?: RequestWatch;
}

const requestRules = ({ environment }: HttpSettings, clock: Pick<BusinessClock, 'today'>): RequestRules => {
  const today = (): CalendarDate => clock.today();
  if (environment === 'sandbox') return { checkDigits: false, today };
  return { checkDigits: true, today, lastIssue: () => addDays(today(), 1) };
};

/** The whole HTTP interface as an Express application. */
export const createHttpApp = async (dependencies: HttpDependencies): Promise<Express> => {
  const { settings, useCases, tokens, authenticator, clients, limiter, readiness, logger } = dependencies;
  const document = openApiDocument(settings);
  const handlers = {
    ...tokenHandlers(tokens.issuer),
    ...loanHandlers(useCases),
    ...documentHandlers(useCases),
    settleInstallment: settleInstallment.handler(useCases),
    ...postAssignmentHandlers(useCases),
    ...renegotiationHandlers(useCases),
    ...webhookHandlers(useCases),
    ...sandboxHandlers(useCases),
    ...metaHandlers(document, settings, { issuer: tokens.issuer, readiness }),
    ...(await docsHandlers(document)),
  };
  const authentication = new Authentication(tokens.verifier, clients);
  const gate = new RateGate(limiter);
  const responder = new Responder(API_VERSION, settings.publicUrl.startsWith('https:'), settings.deprecation);
  const dispatcher = new Dispatcher({
    authentication,
    admission: new ClientAdmission(authenticator, gate),
    gate,
    reception: new Reception(dependencies.uploads, requestRules(settings, dependencies.clock)),
    responder,
    refusals: new Refusals({ authentication, gate, responder, logger }),
    trustedHops: settings.trustedHops,
    warnOfProxy: proxyWarning(settings.trustedHops, logger),
    watch: dependencies.watch ?? UNWATCHED_REQUESTS,
  });
  const operations = operationTable(document, handlers, settings.environment);
  return routed(operations, dispatcher, new URL(settings.authUrl).pathname.replace(/\/$/, ''));
};
