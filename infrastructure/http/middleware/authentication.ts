import type { IncomingMessage } from 'node:http';
import {
  InvalidTokenError,
  TokenExpiredError,
  allows,
  scopesOf,
} from '../../../application/ports/clients.ts';
import type {
  Application,
  Client,
  Scope,
  TokenClaims,
  TokenVerifier,
} from '../../../application/ports/clients.ts';
import type { ErrorCode } from '../errors/error-table.ts';
import { HttpProblem } from '../errors/http-problem.ts';

/** Who a client is now: looked up for each request, so that a revocation or a new fund link takes effect. */
export interface ClientDirectory {
  resolve(
    clientId: string,
  ): Promise<{ readonly client: Client; readonly application: Application } | undefined>;
}

/** The party behind a valid token. */
export interface Caller {
  readonly clientId: string;
  readonly applicationId: string;
  readonly fundIds: readonly string[];
  readonly onlyFundIds?: readonly string[];
  readonly scopes: readonly string[];
  /** Factor of the application's rate limits. */
  readonly multiplier: number;
}

const isOneOf =
  (values: readonly string[]) =>
  (value: string): boolean =>
    values.includes(value);

const BEARER = /^bearer +(\S+) *$/i;

const unauthorized = (code: ErrorCode, message: string, error?: string): HttpProblem => {
  const reason =
    error === undefined
      ? ''
      : `, error="${error}", error_description="${message.replace(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, '')}"`;
  return new HttpProblem(code, message, [], ['WWW-Authenticate', `Bearer realm="receivables"${reason}`]);
};

const bearerToken = (req: IncomingMessage): string => {
  const token = BEARER.exec(req.headers.authorization ?? '')?.[1];
  if (token !== undefined) return token;
  throw unauthorized('missing_token', 'Send an access token in the header Authorization: Bearer <token>');
};

export class Authentication {
  readonly #tokens: TokenVerifier;
  readonly #clients: ClientDirectory;

  constructor(tokens: TokenVerifier, clients: ClientDirectory) {
    this.#tokens = tokens;
    this.#clients = clients;
  }

  /** @throws HttpProblem `missing_token`, `invalid_token`, `token_expired` */
  async identify(req: IncomingMessage): Promise<Caller> {
    const claims = await this.#verify(bearerToken(req));
    const resolved = await this.#clients.resolve(claims.clientId);
    if (resolved === undefined || resolved.client.revokedAt !== null) {
      throw unauthorized('invalid_token', 'The client of this token was revoked', 'invalid_token');
    }
    const { client, application } = resolved;
    const { onlyFundIds, rateLimitMultiplier: multiplier } = client;
    const common = { clientId: claims.clientId, applicationId: application.applicationId, multiplier };
    if (onlyFundIds === undefined) return { ...common, fundIds: application.fundIds, scopes: claims.scopes };
    const scopes = claims.scopes.filter((scope) => allows(scopesOf(client), scope as Scope));
    return { ...common, onlyFundIds, fundIds: onlyFundIds.filter(isOneOf(application.fundIds)), scopes };
  }

  async #verify(token: string): Promise<TokenClaims> {
    try {
      return await this.#tokens.verify(token);
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
  }
}

/** @throws HttpProblem `insufficient_scope` */
export const requireScope = (caller: Caller, scope: Scope): void => {
  if (allows(caller.scopes, scope)) return;
  const message = `The token lacks the scope ${scope}`;
  const challenge = `Bearer realm="receivables", error="insufficient_scope", scope="${scope}"`;
  throw new HttpProblem('insufficient_scope', message, [], ['WWW-Authenticate', challenge]);
};
