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
/** How far the provider's clock may be from ours. */
const CLOCK_TOLERANCE_S = 60;
const SCOPES = ['openid', 'profile', 'email'];
const FOR_REFRESH_TOKENS = 'offline_access';
const S256 = 'S256';

type Tokens = openid.TokenEndpointResponse & openid.TokenEndpointResponseHelpers;

/** Any provider of OpenID Connect: code flow with PKCE, state and nonce; what it signs is checked with its published keys. */
export class OpenidProvider implements IdentityProvider {
  readonly #settings: OpenidSettings;
  #discovering: Promise<openid.Configuration> | undefined;

  constructor(settings: OpenidSettings) {
    this.#settings = settings;
  }

  async begin(): Promise<{ readonly address: string; readonly attempt: Attempt }> {
    const configuration = await this.#discovered();
    const attempt = {
      state: openid.randomState(),
      nonce: openid.randomNonce(),
      verifier: openid.randomPKCECodeVerifier(),
    };
    const { scopes_supported: known = [] } = configuration.serverMetadata();
    const scopes = known.includes(FOR_REFRESH_TOKENS) ? [...SCOPES, FOR_REFRESH_TOKENS] : SCOPES;
    const address = openid.buildAuthorizationUrl(configuration, {
      redirect_uri: this.#settings.redirectUri,
      scope: scopes.join(' '),
      state: attempt.state,
      nonce: attempt.nonce,
      code_challenge: await openid.calculatePKCECodeChallenge(attempt.verifier),
      code_challenge_method: S256,
    });
    return { address: address.href, attempt };
  }

  async finish(
    search: string,
    { state, nonce, verifier }: Attempt,
  ): Promise<{ readonly identity: Identity; readonly tokens: ProviderTokens }> {
    const configuration = await this.#discovered();
    const returned = new URL(this.#settings.redirectUri);
    returned.search = search;
    const tokens = await asked(() =>
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
    const configuration = await this.#discovered();
    const tokens = await asked(() => openid.refreshTokenGrant(configuration, refresh));
    const identity = identityOf(tokens);
    return { ...(identity && { identity }), tokens: keptOf(tokens) };
  }

  async endAddress(idToken: string | undefined): Promise<string | undefined> {
    const configuration = await this.#discovered();
    if (configuration.serverMetadata().end_session_endpoint === undefined) return undefined;
    return openid.buildEndSessionUrl(configuration, {
      post_logout_redirect_uri: this.#settings.afterSignOut,
      ...(idToken !== undefined && { id_token_hint: idToken }),
    }).href;
  }

  /** Once is enough; what failed is tried again with the next call. */
  #discovered(): Promise<openid.Configuration> {
    this.#discovering ??= this.#discover().catch((error: unknown) => {
      this.#discovering = undefined;
      throw new ProviderAwayError(`${this.#settings.issuer} does not say how to sign in: ${toldBy(error)}`, {
        cause: error,
      });
    });
    return this.#discovering;
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
      { execute: extensions, timeout: patience },
    );
  }
}

/** In the header, which every provider has to know, unless this one says that it takes it in the form alone. */
const authenticatedWith = (secret: string): openid.ClientAuth => {
  const [inHeader, inForm] = [openid.ClientSecretBasic(secret), openid.ClientSecretPost(secret)];
  return (server, ...rest) => {
    const { token_endpoint_auth_methods_supported: known = ['client_secret_basic'] } = server;
    const isInForm = !known.includes('client_secret_basic') && known.includes('client_secret_post');
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
/** What comes instead of an answer of the provider. */
const NO_ANSWER: ReadonlySet<string> = new Set([
  ...['OAUTH_TIMEOUT', 'OAUTH_ABORT', 'OAUTH_PARSE_ERROR'],
  ...['OAUTH_RESPONSE_IS_NOT_CONFORM', 'OAUTH_RESPONSE_IS_NOT_JSON'],
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
    return `it answers ${error.error}`;
  if (error instanceof openid.WWWAuthenticateChallengeError)
    return 'it does not take the client id and secret of the console';
  const { cause } = error as { readonly cause?: unknown };
  return cause instanceof Error ? `${messageOf(error)}: ${messageOf(cause)}` : messageOf(error);
};

/** @throws ProviderAwayError @throws ProviderRefusedError */
const asked = async <Answer>(ask: () => Promise<Answer>): Promise<Answer> => {
  try {
    return await ask();
  } catch (error) {
    const Kind = isAway(error) ? ProviderAwayError : ProviderRefusedError;
    throw new Kind(toldBy(error), { cause: error });
  }
};
