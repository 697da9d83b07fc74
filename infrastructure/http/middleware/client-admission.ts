import type { Client, ClientAuthenticator } from '../../../application/ports/clients.ts';
import { invalidClient, readCredentials } from '../requests/client-credentials.ts';
import type { Exchange } from './request-state.ts';
import { tooManyRequests } from './rate-gate.ts';
import type { RateGate } from './rate-gate.ts';

/**
 * Lets clients in by their secret. The secret is compared before any bucket is looked at, so that failures from the same address
 * or for the same id never keep the right one out. Whatever fails draws from the bucket of its address: an unknown id and a wrong
 * secret cannot be told apart.
 */
export class ClientAdmission {
  readonly #authenticator: ClientAuthenticator;
  readonly #gate: RateGate;

  constructor(authenticator: ClientAuthenticator, gate: RateGate) {
    this.#authenticator = authenticator;
    this.#gate = gate;
  }

  /** @throws HttpProblem `invalid_request`, `unsupported_grant_type`, `invalid_client`, `rate_limited` @throws BusyError */
  async admit(exchange: Exchange, form: URLSearchParams, endpoint: string): Promise<Client> {
    const credentials = readCredentials(exchange.req, form);
    const client =
      credentials && (await this.#authenticator.authenticate(credentials.clientId, credentials.secret));
    const state = client
      ? await this.#gate.forClient(exchange, client.clientId)
      : await this.#gate.forAddress(exchange, 'token');
    if (!state.allowed) throw tooManyRequests(endpoint, state);
    if (!client) throw invalidClient(exchange.req);
    return client;
  }
}
