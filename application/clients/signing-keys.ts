/** Keys that sign access tokens. */
export interface SigningKeys {
  /** Publishes a new key, which signs from `activeFrom` on, in UNIX milliseconds. */
  rotate(): Promise<{ readonly kid: string; readonly activeFrom: number }>;
  /** Ends a key at once; `successor` signs from now on. @throws UnknownSigningKeyError */
  revoke(kid: string): Promise<{ readonly kid: string; readonly successor: string }>;
}

/** No published key has this id. */
export class UnknownSigningKeyError extends Error {
  override readonly name = 'UnknownSigningKeyError';
}
