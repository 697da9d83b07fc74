export interface IssuedCredentials {
  readonly clientId: string;
  /** Shown once, never stored. */
  readonly clientSecret: string;
  /** Salted hash of the secret, self-describing text. */
  readonly secretHash: string;
}

/** Makes credentials that nobody can guess, written with letters, digits, `-` and `_` only. */
export interface ClientCredentials {
  issue(): Promise<IssuedCredentials>;
}
