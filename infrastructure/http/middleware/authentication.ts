import type { IncomingMessage } from 'node:http';
import type { RequestHandler } from 'express';
import { allows, scopesOf, SCOPES } from '../../../application/clients/scopes.ts';
import type { Client } from '../../../application/clients/client-registry.ts';
import { isSoundText } from '../../../application/schemas/document-validators.ts';
import { DomainError } from '../../../domain/shared/domain-error.ts';
import { HttpProblem, oauthDescription, rateLimited } from '../errors/http-problem.ts';
import { repetitions } from '../requests/request-rules.ts';
import { quoted } from '../../../application/schemas/parse-json.ts';
import type { ClientDirectory } from '../../../application/clients/client-directory.ts';
import { InvalidTokenError, TokenExpiredError } from '../../../application/clients/tokens.ts';
import type { Scope } from '../../../application/clients/scopes.ts';
import type { ClientAuthenticator, TokenClaims, Tokens } from '../../../application/clients/tokens.ts';
import type { ErrorCode } from '../errors/error-table.ts';
import { RATE_ROWS, multiplied } from '../limits/rate-limiter.ts';
import type { RateLimiter, RateRow, RateState } from '../limits/rate-limiter.ts';
import type { Operation } from '../operation.ts';
import { callerOf, stateOf } from './request-state.ts';
import type { Caller, RequestState } from './request-state.ts';

interface ClientCredentialsRequest {
  readonly clientId: string;
  readonly secret: string;
}

const BASIC = /^basic +([A-Za-z0-9+/_-]+=*) *$/i;

const formDecoded = (text: string): string => {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
};

/** Id and secret stand form-encoded in HTTP Basic (RFC 6749, section 2.3.1). */
const basicCredentials = (req: IncomingMessage): ClientCredentialsRequest | undefined => {
  const encoded = BASIC.exec(req.headers.authorization ?? '')?.[1];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon < 0) return undefined;
  return { clientId: formDecoded(text.slice(0, colon)), secret: formDecoded(text.slice(colon + 1)) };
};

/** @param isGiven whether there were an id and a secret to compare */
const invalidClient = (req: IncomingMessage, isGiven: boolean): HttpProblem => {
  // Who sent the header is told the scheme that it may have here (RFC 6749, section 5.2). For a form, browsers would ask for a password.
  const scheme = req.headers.authorization === undefined ? 'Bearer' : 'Basic';
  const message = isGiven
    ? 'Client id and secret do not belong together'
    : 'Send client_id and client_secret, both in the form or both as HTTP Basic';
  return new HttpProblem(
    'invalid_client',
    message,
    [],
    ['WWW-Authenticate', `${scheme} realm="receivables"`],
  );
};

/** Undefined when the id or the secret is missing, or no id can look like this. @throws HttpProblem `invalid_request`, `unsupported_grant_type` */
const readCredentials = (
  req: IncomingMessage,
  form: URLSearchParams,
): ClientCredentialsRequest | undefined => {
  const [repeated] = repetitions([...form.keys()]);
  if (repeated) throw new HttpProblem('invalid_request', `${repeated.text.slice(0, 60)} must appear once`);
  const grant = form.get('grant_type');
  if (grant === null)
    throw new HttpProblem('invalid_request', 'grant_type is required; send client_credentials');
  if (grant !== 'client_credentials') {
    throw new HttpProblem('unsupported_grant_type', 'grant_type must be client_credentials');
  }
  const basic = basicCredentials(req);
  if (basic !== undefined && form.has('client_secret')) {
    throw new HttpProblem('invalid_request', 'send the credentials in the form or as HTTP Basic, not both');
  }
  const clientId = basic?.clientId ?? form.get('client_id');
  const secret = basic?.secret ?? form.get('client_secret');
  return clientId && secret && isSoundText(clientId) ? { clientId, secret } : undefined;
};

/**
 * The client as its token will know it: with the scopes that the request names, or all of its own where it names none.
 * @throws HttpProblem `invalid_scope` for a name that is no scope, or none of this client
 */
export const narrowedTo = (scope: string | null, client: Client): Client => {
  const wanted = (scope ?? '').split(' ').filter((name) => name !== '');
  if (wanted.length === 0) return client;
  const own = scopesOf(client);
  const granted = SCOPES.filter((name) => wanted.includes(name) && allows(own, name));
  const other = wanted.find((name) => !granted.some((one) => one === name));
  if (other === undefined) return { ...client, scopes: granted };
  const message = `${quoted(other)} is no scope of this client; it has ${own.join(' ')}`;
  throw new HttpProblem('invalid_scope', message, [{ field: 'scope', code: 'invalid_scope', message }]);
};

export const UNMATCHED = 'read';

/** Takes tokens from the bucket of a request. Each method keeps the state for the headers; its `allowed` says whether they were there. */
export class RateLimits {
  readonly #limiter: RateLimiter;

  constructor(limiter: RateLimiter) {
    this.#limiter = limiter;
  }

  async forCaller(state: RequestState, caller: Caller, row: RateRow, tokens = 1): Promise<RateState> {
    const limit = multiplied(RATE_ROWS[row], caller.multiplier);
    const key = `${caller.applicationId} ${row}`;
    const rate = await this.#limiter.take('application', key, limit, tokens);
    if (rate.allowed) state.tokens += tokens;
    return (state.rate = rate);
  }

  async giveBack(state: RequestState): Promise<void> {
    const { caller, operation, tokens } = state;
    const row = operation?.bucket;
    if (caller && row && tokens > 0) await this.forCaller(state, caller, row, -tokens);
  }

  async forAddress(state: RequestState, row: RateRow): Promise<RateState> {
    return (state.rate = await this.#limiter.take('address', `${state.addressKey} ${row}`, RATE_ROWS[row]));
  }

  /** The bucket of tokens issued to a client at one address. Only a right secret leads here, so invented ids cannot push buckets out of memory. */
  async forClient(state: RequestState, clientId: string): Promise<RateState> {
    const key = `token ${clientId} ${state.addressKey}`;
    return (state.rate = await this.#limiter.take('application', key, RATE_ROWS.token));
  }
}

/** @throws HttpProblem `rate_limited` */
export const requireToken = (rate: RateState, endpoint: string): void => {
  if (rate.allowed) return;
  const seconds = rate.retryAfter;
  const message = `Too many requests to ${endpoint}; wait ${seconds} second${seconds === 1 ? '' : 's'}`;
  throw rateLimited(message, seconds);
};

/** Takes a token from the application's bucket of this operation. @throws HttpProblem `rate_limited` */
export const limitApplication =
  ({ bucket, endpoint }: Operation, rates: RateLimits): RequestHandler =>
  async (_req, res, next) => {
    const state = stateOf(res);
    if (bucket !== null) requireToken(await rates.forCaller(state, callerOf(state), bucket), endpoint);
    next();
  };

/** Takes a token from the address's bucket; some operations, such as health checks, have none. @throws HttpProblem `rate_limited` */
export const limitAddress =
  ({ bucket, endpoint }: Operation, rates: RateLimits): RequestHandler =>
  async (_req, res, next) => {
    if (bucket !== null) requireToken(await rates.forAddress(stateOf(res), bucket), endpoint);
    next();
  };

const BEARER = /^bearer +(\S+) *$/i;

const unauthorized = (code: ErrorCode, message: string, error?: string): HttpProblem => {
  const reason =
    error === undefined ? '' : `, error="${error}", error_description="${oauthDescription(message)}"`;
  return new HttpProblem(code, message, [], ['WWW-Authenticate', `Bearer realm="receivables"${reason}`]);
};

const bearerToken = (req: IncomingMessage): string => {
  const token = BEARER.exec(req.headers.authorization ?? '')?.[1];
  if (token !== undefined) return token;
  throw unauthorized('missing_token', 'Send an access token in the header Authorization: Bearer <token>');
};

const verified = async (tokens: Tokens, token: string): Promise<TokenClaims> => {
  try {
    return await tokens.verify(token);
  } catch (error) {
    if (error instanceof TokenExpiredError) {
      throw unauthorized('token_expired', 'The access token has expired; fetch a new one', 'invalid_token');
    }
    if (error instanceof InvalidTokenError) {
      throw unauthorized(
        'invalid_token',
        `The access token is not valid here: ${error.message}`,
        'invalid_token',
      );
    }
    throw error;
  }
};

/**
 * Who sent a request. The client of a token is looked up for each, so that a revocation or a new fund link takes effect.
 * @throws HttpProblem `missing_token`, `invalid_token`, `token_expired`
 */
export const callersBy =
  (tokens: Tokens, clients: Pick<ClientDirectory, 'resolve' | 'lookUp'>) =>
  async (req: IncomingMessage, how: 'resolve' | 'lookUp' = 'resolve'): Promise<Caller> => {
    const claims = await verified(tokens, bearerToken(req));
    const resolved = await clients[how](claims.clientId);
    if (resolved === undefined || resolved.client.revokedAt !== null) {
      throw unauthorized('invalid_token', 'The client of this token was revoked', 'invalid_token');
    }
    const { client, application } = resolved;
    const { onlyFundIds } = client;
    const { applicationId, rateLimitMultiplier: multiplier } = application;
    const common = { clientId: claims.clientId, applicationId, multiplier };
    if (onlyFundIds === undefined) return { ...common, fundIds: application.fundIds, scopes: claims.scopes };
    const fundIds = onlyFundIds.filter((fundId) => application.fundIds.includes(fundId));
    const scopes = claims.scopes.filter((scope) => allows(scopesOf(client), scope as Scope));
    return { ...common, onlyFundIds, fundIds, scopes };
  };

/**
 * Refuses requests without a valid token. A refused token also takes from the bucket of its address; an address whose bucket is empty
 * is answered 429 and does not learn whether the token was wrong.
 */
export const authenticate =
  (
    { bucket, endpoint }: Operation,
    identify: (req: IncomingMessage) => Promise<Caller>,
    rates: RateLimits,
  ): RequestHandler =>
  async (req, res, next) => {
    const state = stateOf(res);
    try {
      state.caller = await identify(req);
    } catch (error) {
      const unauthorized = error instanceof HttpProblem && error.status === 401;
      if (unauthorized) requireToken(await rates.forAddress(state, bucket ?? UNMATCHED), endpoint);
      throw error;
    }
    next();
  };

/** What refuses a fund tries once more with the links of now: the fund may have been linked a moment ago. */
export const withLinksOfNow = (operation: Operation, identify: ReturnType<typeof callersBy>): Operation => {
  const run: Operation['run'] = async (call) => {
    try {
      return await operation.run(call);
    } catch (error) {
      if (!(error instanceof DomainError && error.code === 'fund_not_allowed' && call.context)) throw error;
      const { fundIds } = await identify(call.req, 'lookUp');
      if (fundIds.every((fundId) => call.context!.fundIds.includes(fundId))) throw error;
      return operation.run({ ...call, context: { ...call.context, fundIds } });
    }
  };
  return operation.errors.includes('fund_not_allowed') ? { ...operation, run } : operation;
};

/** @throws HttpProblem `insufficient_scope` */
export const requireScope =
  (scope: Scope, { allFunds }: Pick<Operation, 'allFunds'>): RequestHandler =>
  (_req, res, next) => {
    const { scopes, onlyFundIds } = callerOf(stateOf(res));
    const challenge = `Bearer realm="receivables", error="insufficient_scope", scope="${scope}"`;
    const refusal = (message: string) =>
      new HttpProblem('insufficient_scope', message, [], ['WWW-Authenticate', challenge]);
    if (!allows(scopes, scope)) throw refusal(`The token lacks the scope ${scope}`);
    if (allFunds && onlyFundIds)
      throw refusal('This is about every fund of the application: ask with a client of all of them');
    next();
  };

/**
 * Lets clients in by their secret. The secret is compared before any bucket is looked at, so that failures from the same address
 * or for the same id never keep the right client out. Every failure draws from the bucket of its address: an unknown id and a wrong
 * secret cannot be told apart.
 * @throws HttpProblem `invalid_request`, `unsupported_grant_type`, `invalid_client`, `rate_limited`, `invalid_scope`
 * @throws BusyError
 */
export const authenticateClient =
  ({ endpoint }: Operation, authenticator: ClientAuthenticator, rates: RateLimits): RequestHandler =>
  async (req, res, next) => {
    const state = stateOf(res);
    const credentials = readCredentials(req, state.form);
    const client =
      credentials && (await authenticator.authenticate(credentials.clientId, credentials.secret));
    const rate = client
      ? await rates.forClient(state, client.clientId)
      : await rates.forAddress(state, 'token');
    requireToken(rate, endpoint);
    if (!client) throw invalidClient(req, credentials !== undefined);
    state.client = narrowedTo(state.form.get('scope'), client);
    next();
  };
