export type Claims = Readonly<Record<string, unknown>>;

export interface Identity {
  readonly issuer: string;
  readonly subject: string;
  readonly claims: Claims;
}

export interface ProviderTokens {
  readonly refresh?: string;
  /** Tells the provider at sign-out whose session ends. */
  readonly id?: string;
}

export interface Attempt {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** Who says which people there are: an OpenID provider. Every call may end with ProviderAwayError. */
export interface IdentityProvider {
  /** @returns the address that the browser is sent to */
  begin(): Promise<{ readonly address: string; readonly attempt: Attempt }>;
  /** @param search the query with which the browser came back @throws ProviderRefusedError */
  finish(
    search: string,
    attempt: Attempt,
  ): Promise<{ readonly identity: Identity; readonly tokens: ProviderTokens }>;
  /** Whether the person still may, and what they may; no identity: the provider says nothing new. @throws ProviderRefusedError */
  renew(refresh: string): Promise<{ readonly identity?: Identity; readonly tokens: ProviderTokens }>;
  endAddress(idToken: string | undefined): Promise<string | undefined>;
}

/** The provider could not be asked, or could not answer: that says nothing of the person. */
export class ProviderAwayError extends Error {
  override readonly name = 'ProviderAwayError';
}

export class ProviderRefusedError extends Error {
  override readonly name = 'ProviderRefusedError';
}
