import type { RequestListener } from 'node:http';
import express from 'express';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { App } from '../../application/app.ts';
import type { ClientDirectory } from '../../application/clients/client-directory.ts';
import type { ClientAuthenticator, Tokens } from '../../application/clients/tokens.ts';
import type { BusinessClock } from '../../application/ports/clock.ts';
import type { Logger } from '../../application/ports/logger.ts';
import { UNWATCHED_REQUESTS } from '../../application/ports/observation.ts';
import type { RequestWatch } from '../../application/ports/observation.ts';
import type { UploadArea } from './bodies/uploads.ts';
import { Guides } from './docs/guides/guides.ts';
import { loadReferencePage } from './docs/reference-page.ts';
import type { RateLimiter } from './limits/rate-limiter.ts';
import { Slots } from './limits/slots.ts';
import type { SlotBounds } from './limits/slots.ts';
import {
  RateLimits,
  authenticate,
  authenticateClient,
  callersBy,
  withLinksOfNow,
  limitAddress,
  limitApplication,
  requireScope,
} from './middleware/authentication.ts';
import { BodyValidator, bodyReading, preconditions, validateParameters } from './middleware/body-reader.ts';
import { proxyWarning, stateOf, withState } from './middleware/request-state.ts';
import { sandboxFailures } from './middleware/sandbox-failures.ts';
import { READ_BOUNDS, isLongRead, takeTurn } from './middleware/read-turns.ts';
import { ErrorHandler } from './middleware/error-handler.ts';
import { batches, limitLines } from './middleware/batches.ts';
import { Responder, handle, observed, observedUnmatched } from './middleware/responder.ts';
import { openApiDocument } from './openapi/document.ts';
import type { PublicAddresses } from './openapi/operation.ts';
import { API_VERSION } from './openapi/version.ts';
import { operationTable, notFound, registerRoutes, withoutPrefix, readTarget } from './routes.ts';
import type { Operation } from './operation.ts';
import { HttpProblem } from './errors/http-problem.ts';
import type { Readiness } from './server/health-app.ts';
import { whenAsked } from '../support/opening.ts';

export interface HttpDependencies {
  readonly settings: Required<PublicAddresses> & {
    readonly strict: boolean;
    /** How many proxies in front of the service may be believed about the client's address. */
    readonly trustProxy: number;
    /** An announced change that breaks this version: version and day, as the header shows it. */
    readonly apiDeprecation?: string | undefined;
  };
  readonly app: App;
  readonly tokens: Tokens;
  readonly authenticator: ClientAuthenticator;
  readonly clients: Pick<ClientDirectory, 'resolve' | 'lookUp'>;
  readonly limiter: RateLimiter;
  /** Where files wait while their request is handled; it outlives the requests. */
  readonly uploads: UploadArea;
  readonly readiness: () => Promise<Readiness>;
  readonly clock: Pick<BusinessClock, 'today'>;
  readonly logger: Logger;
  readonly watch?: RequestWatch;
  readonly reads?: SlotBounds;
  readonly texts?: SlotBounds;
}

export const createHttpApp = async (dependencies: HttpDependencies): Promise<RequestListener> => {
  const { settings, logger } = dependencies;
  const { trustProxy, authUrl } = settings;
  const authPath = new URL(authUrl).pathname.replace(/\/$/, '');
  const document = openApiDocument(settings);
  const { app: modules, readiness, tokens } = dependencies;
  const serving = {
    app: modules,
    document,
    reference: whenAsked(() => loadReferencePage(document)),
    guides: await Guides.open(document),
    addresses: settings,
    readiness,
    tokens,
  };
  const operations = operationTable(document, serving, settings.environment);
  const { stepsOf, responder, errors, watch } = middlewaresOf(dependencies);
  const app = express();
  app.disable('x-powered-by').disable('etag').enable('strict routing').enable('case sensitive routing');
  if (authPath !== '') app.use(withoutPrefix(authPath));
  registerRoutes(app, operations, stepsOf, async (res, allow) => {
    await errors.noteRate(stateOf(res));
    await responder.reply(stateOf(res), { status: 204, headers: ['Allow', allow] });
  });
  const unmatched = observedUnmatched(watch);
  app.use(notFound, unmatched, errors.handle);
  const begin = withState(trustProxy, proxyWarning(trustProxy, logger));
  return (req, res) => {
    const state = begin(req, res);
    const refuse = async (error: unknown): Promise<void> => {
      const seen = [req as Request, res as Response] as const;
      await errors.noteAddress(state);
      unmatched(error, ...seen, (refusal) => void errors.handle(refusal, ...seen, ignore));
    };
    const refusal = readTarget(req);
    if (refusal) void refuse(refusal);
    // The framework calls back where it can make nothing of the path, and would answer a page of its own.
    else app(req as Request, res as Response, (error?: unknown) => void refuse(error ?? unreadable()));
  };
};

const ignore: NextFunction = () => undefined;

const unreadable = (): HttpProblem =>
  new HttpProblem('invalid_request', 'the target of the request cannot be read');

const middlewaresOf = (dependencies: HttpDependencies) => {
  const { settings, tokens, authenticator, clients, clock, logger } = dependencies;
  const { watch = UNWATCHED_REQUESTS } = dependencies;
  const identify = callersBy(tokens, clients);
  const rates = new RateLimits(dependencies.limiter);
  const responder = new Responder(
    API_VERSION,
    settings.publicUrl.startsWith('https:'),
    settings.apiDeprecation,
  );
  const errors = new ErrorHandler({ identify, rates, responder, logger });
  const bodies = bodyReading(dependencies.uploads, dependencies.texts);
  const validator = new BodyValidator(clock);
  const reads = new Slots(dependencies.reads ?? READ_BOUNDS);
  const batch = batches({ validator, errors, responder });
  const handled = sandboxFailures(responder);
  /** Their order is the published order in which refusals win over each other. */
  const stepsOf = (operation: Operation): RequestHandler[] => {
    const first = [observed(watch, operation), preconditions(operation)];
    const parameters = validateParameters(operation, settings.strict);
    const body = [bodies.read, parameters, validator.validate(operation)];
    const { access, lines } = operation;
    if (access === 'public')
      return [...first, limitAddress(operation, rates), ...body, handle(operation, responder)];
    // The secret stands in the body, which is read first.
    if (access === 'client_credentials') {
      const authenticated = authenticateClient(operation, authenticator, rates);
      return [...first, bodies.readForm, authenticated, parameters, handle(operation, responder)];
    }
    return [
      ...first,
      authenticate(operation, identify, rates),
      requireScope(access, operation),
      limitApplication(operation, rates),
      ...body,
      ...(isLongRead(operation) ? [takeTurn(operation, reads)] : []),
      ...(lines
        ? [limitLines(operation, lines, rates), batch(operation, lines)]
        : [handled(withLinksOfNow(operation, identify))]),
    ];
  };
  return { stepsOf, responder, errors, watch };
};
