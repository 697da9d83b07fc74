import type { Express } from 'express';
import type { Logger } from '../../application/ports/logger.ts';
import { UNWATCHED_REQUESTS } from '../../application/ports/request-watch.ts';
import type { RequestWatch } from '../../application/ports/request-watch.ts';
import type { ClientAuthenticator, TokenIssuer, TokenVerifier } from '../../application/ports/tokens.ts';
import { UploadArea } from './bodies/upload-area.ts';
import { docsHandlers } from './handlers/docs.ts';
import { installmentHandlers } from './handlers/installments.ts';
import { loanHandlers } from './handlers/loans.ts';
import { metaHandlers } from './handlers/meta.ts';
import type { Readiness } from './handlers/meta.ts';
import { postAssignmentHandlers } from './handlers/post-assignment.ts';
import { renegotiationHandlers } from './handlers/renegotiation.ts';
import { tokenHandlers } from './handlers/token.ts';
import { webhookHandlers } from './handlers/webhooks.ts';
import type { RateLimiter } from './limits/rate-limiter.ts';
import { openApiDocument } from './openapi/document.ts';
import { API_VERSION } from './openapi/version.ts';
import { Authentication } from './pipeline/authentication.ts';
import type { ClientDirectory } from './pipeline/authentication.ts';
import { Dispatcher } from './pipeline/dispatcher.ts';
import { FILE_BYTES, operationTable } from './pipeline/operation-table.ts';
import { RateGate } from './pipeline/rate-gate.ts';
import { Reception } from './pipeline/reception.ts';
import { Refusals } from './pipeline/refusals.ts';
import { Responder } from './pipeline/responder.ts';
import { routed } from './pipeline/router.ts';
import type { UseCases } from './use-cases.ts';

export interface HttpSettings {
  readonly environment: 'sandbox' | 'production';
  /** Base addresses as clients see them. */
  readonly publicUrl: string;
  readonly authUrl: string;
  /** How many proxies in front of the service may be believed about the client's address. */
  readonly trustedHops: number;
  /** An announced change that breaks this version: version and day, as the header shows it. */
  readonly deprecation?: string;
  /** Folder for files while their request is handled; emptied of what dead processes left. */
  readonly uploadDirectory: string;
}

export interface HttpDependencies {
  readonly settings: HttpSettings;
  readonly useCases: UseCases;
  readonly tokens: { readonly issuer: TokenIssuer; readonly verifier: TokenVerifier };
  readonly authenticator: ClientAuthenticator;
  readonly clients: ClientDirectory;
  readonly limiter: RateLimiter;
  readonly readiness: () => Promise<Readiness>;
  readonly logger: Logger;
  readonly watch?: RequestWatch;
}

/** The whole HTTP interface as an Express application. @throws Error when the upload folder cannot be made */
export const createHttpApp = async (dependencies: HttpDependencies): Promise<Express> => {
  const { settings, useCases, tokens, authenticator, clients, limiter, readiness, logger } = dependencies;
  const document = openApiDocument(settings);
  const handlers = {
    ...tokenHandlers({ authenticator, issuer: tokens.issuer }),
    ...loanHandlers(useCases),
    ...installmentHandlers(useCases),
    ...postAssignmentHandlers(useCases),
    ...renegotiationHandlers(useCases),
    ...webhookHandlers(useCases),
    ...metaHandlers(document, { issuer: tokens.issuer, readiness }),
    ...(await docsHandlers()),
  };
  const authentication = new Authentication(tokens.verifier, clients);
  const gate = new RateGate(limiter);
  const responder = new Responder(API_VERSION, settings.publicUrl.startsWith('https:'), settings.deprecation);
  const uploads = await UploadArea.open(settings.uploadDirectory);
  const dispatcher = new Dispatcher({
    authentication,
    gate,
    reception: new Reception(uploads, { checkDigits: settings.environment === 'production' }),
    responder,
    refusals: new Refusals({ authentication, gate, responder, logger }),
    trustedHops: settings.trustedHops,
    watch: dependencies.watch ?? UNWATCHED_REQUESTS,
  });
  return routed(operationTable(document, handlers, FILE_BYTES[settings.environment]), dispatcher);
};
