import * as openid from 'openid-client';
import { ProviderAwayError, ProviderRefusedError } from '../../application/desk/identity-provider.ts';
import type {
  Attempt,
  Identity,
  IdentityProvider,
  ProviderTokens,
} from '../../application/desk/identity-provider.ts';
import { messageOf } from '../../application/support/failures.ts';

interface OpenidSettings {
  readonly issuer: string;
  readonly clientId: string;
  /** Undefined: a public client. */
  readonly clientSecret: string | undefined;
  /** Of the console, as the provider knows them. */
  readonly redirectUri: string;
  readonly afterSignOut: string;
  /** For each answer of the provider, in seconds. */
  readonly patience?: number;
}

const PATIENCE_S = 5;
/** In bytes, far above what a provider has to say of itself, of its keys or of a person. */
const LONGEST_ANSWER = 1024 * 1024;
const LONGEST_REASON = 300;
/** How far the provider's clock may be from ours. */
const CLOCK_TOLERANCE_S = 60;
const SCOPES = ['openid', 'profile', 'email'];
const FOR_REFRESH_TOKENS = 'offline_access';
const S256 = 'S256';

type Tokens = openid.TokenEndpointResponse & openid.TokenEndpointResponseHelpers;

/**
 * Any provider of OpenID Connect: code flow with PKCE, state and nonce; what it signs is checked with its published keys. Where it is to be
 * asked, and with which keys it signs, is asked for with each answer: a code or a refresh token is good for one use, and would be lost where
 * the provider had moved or signed with other keys than before.
 */
export class OpenidProvider implements IdentityProvider {
  readonly #settings: OpenidSettings;

  constructor(settings: OpenidSettings) {
    this.#settings = settings;
  }

  begin(): Promise<{ readonly address: string; readonly attempt: Attempt }> {
    const attempt = {
      state: openid.randomState(),
      nonce: openid.randomNonce(),
      verifier: openid.randomPKCECodeVerifier(),
    };
    return this.#ask(async (configuration) => {
      const { scopes_supported: known } = configuration.serverMetadata();
      const scopes = isAmong(known, FOR_REFRESH_TOKENS) ? [...SCOPES, FOR_REFRESH_TOKENS] : SCOPES;
      const address = openid.buildAuthorizationUrl(configuration, {
        redirect_uri: this.#settings.redirectUri,
        scope: scopes.join(' '),
        state: attempt.state,
        nonce: attempt.nonce,
        code_challenge: await openid.calculatePKCECodeChallenge(attempt.verifier),
        code_challenge_method: S256,
      });
      return { address: address.href, attempt };
    });
  }

  async finish(
    search: string,
    { state, nonce, verifier }: Attempt,
  ): Promise<{ readonly identity: Identity; readonly tokens: ProviderTokens }> {
    const returned = new URL(this.#settings.redirectUri);
    returned.search = search;
    const tokens = await this.#ask((configuration) =>
      openid.authorizationCodeGrant(configuration, returned, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      }),
    );
    return { identity: identityOf(tokens)!, tokens: keptOf(tokens) };
  }

  async renew(refresh: string): Promise<{ readonly identity?: Identity; readonly tokens: ProviderTokens }> {
    const tokens = await this.#ask((configuration) => openid.refreshTokenGrant(configuration, refresh));
    const identity = identityOf(tokens);
    return { ...(identity && { identity }), tokens: keptOf(tokens) };
  }

  endAddress(idToken: string | undefined): Promise<string | undefined> {
    return this.#ask(async (configuration) => {
      if (configuration.serverMetadata().end_session_endpoint === undefined) return undefined;
      return openid.buildEndSessionUrl(configuration, {
        post_logout_redirect_uri: this.#settings.afterSignOut,
        ...(idToken !== undefined && { id_token_hint: idToken }),
      }).href;
    });
  }

  /** @throws ProviderAwayError @throws ProviderRefusedError */
  async #ask<Answer>(ask: (configuration: openid.Configuration) => Promise<Answer>): Promise<Answer> {
    const configuration = await this.#discover().catch((error: unknown) => {
      throw new ProviderAwayError(`${this.#settings.issuer} does not say how to sign in: ${toldBy(error)}`, {
        cause: error,
      });
    });
    try {
      return await ask(configuration);
    } catch (error) {
      throw new (isAway(error) ? ProviderAwayError : ProviderRefusedError)(toldBy(error), { cause: error });
    }
  }

  async #discover(): Promise<openid.Configuration> {
    const { issuer, clientId, clientSecret, patience = PATIENCE_S } = this.#settings;
    const server = new URL(issuer);
    const extensions = [openid.enableNonRepudiationChecks];
    if (server.protocol === 'http:') extensions.push(openid.allowInsecureRequests);
    return openid.discovery(
      server,
      clientId,
      { [openid.clockTolerance]: CLOCK_TOLERANCE_S },
      clientSecret === undefined ? openid.None() : authenticatedWith(clientSecret),
      { execute: extensions, timeout: patience, [openid.customFetch]: fetchBounded },
    );
  }
}

/** Counted as it is read, whatever the answer says of its length. */
const bounded = (): TransformStream<Uint8Array, Uint8Array> => {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes > LONGEST_ANSWER) throw new Error(`its answer has more than ${LONGEST_ANSWER} bytes`);
      controller.enqueue(chunk);
    },
  });
};

const fetchBounded: openid.CustomFetch = async (address, options) => {
  const answer = await fetch(address, options as RequestInit);
  return answer.body === null ? answer : new Response(answer.body.pipeThrough(bounded()), answer);
};

/** Of what a provider says of itself nothing is certain to be a list. */
const isAmong = (all: unknown, one: string): boolean => Array.isArray(all) && all.includes(one);

/** In the header, which every provider has to know, unless this one says that it takes it in the form alone. */
const authenticatedWith = (secret: string): openid.ClientAuth => {
  const [inHeader, inForm] = [openid.ClientSecretBasic(secret), openid.ClientSecretPost(secret)];
  return (server, ...rest) => {
    const { token_endpoint_auth_methods_supported: known } = server;
    const isInForm = !isAmong(known, 'client_secret_basic') && isAmong(known, 'client_secret_post');
    return (isInForm ? inForm : inHeader)(server, ...rest);
  };
};

const identityOf = (tokens: Tokens): Identity | undefined => {
  const claims = tokens.claims();
  return claims && { issuer: claims.iss, subject: claims.sub, claims };
};

const keptOf = ({ refresh_token: refresh, id_token: id }: Tokens): ProviderTokens => ({
  ...(refresh !== undefined && { refresh }),
  ...(id !== undefined && { id }),
});

/** Errors of OAuth that say nothing of the person. */
const PASSING: ReadonlySet<string> = new Set(['temporarily_unavailable', 'server_error']);
/** What comes instead of an answer of the provider, or of keys and addresses at which it can be asked. */
const NO_ANSWER: ReadonlySet<string> = new Set([
  ...['OAUTH_TIMEOUT', 'OAUTH_ABORT', 'OAUTH_PARSE_ERROR'],
  ...['OAUTH_RESPONSE_IS_NOT_CONFORM', 'OAUTH_RESPONSE_IS_NOT_JSON'],
  ...['OAUTH_MISSING_SERVER_METADATA', 'OAUTH_INVALID_SERVER_METADATA', 'OAUTH_KEY_SELECTION_FAILED'],
  ...['OAUTH_REQUEST_PROTOCOL_FORBIDDEN', 'OAUTH_HTTP_REQUEST_FORBIDDEN'],
]);
const FIRST_SERVER_ERROR = 500;
const TOO_MANY_REQUESTS = 429;

const isAway = (error: unknown): boolean => {
  if (error instanceof openid.ResponseBodyError)
    return (
      error.status >= FIRST_SERVER_ERROR || error.status === TOO_MANY_REQUESTS || PASSING.has(error.error)
    );
  const { name, code } = error as { readonly name?: string; readonly code?: string };
  // What `fetch` throws where no answer came has no code, as it is or inside an error of the library; everything else has one.
  if (code === undefined) return name === 'TypeError' || error instanceof openid.ClientError;
  return NO_ANSWER.has(code);
};

/** What an error says of the provider, without what was sent or received. */
const toldBy = (error: unknown): string => {
  if (error instanceof openid.ResponseBodyError || error instanceof openid.AuthorizationResponseError)
    return `it answers ${error.error.slice(0, LONGEST_REASON)}`;
  if (error instanceof openid.WWWAuthenticateChallengeError)
    return 'it does not take the client id and secret of the console';
  const texts: string[] = [];
  for (let one = error; one instanceof Error; one = one.cause) texts.push(messageOf(one));
  return [...new Set(texts)].join(': ').slice(0, LONGEST_REASON);
};
