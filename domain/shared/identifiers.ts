declare const brand: unique symbol;

/** A primitive that carries its meaning in its type; free at run time. */
export type Brand<Base, Name extends string> = Base & { readonly [brand]: Name };

/** Tenant: owns funds, operations, webhooks and idempotency keys. */
export type ApplicationId = Brand<string, 'ApplicationId'>;
export type FundId = Brand<string, 'FundId'>;
/** `originator_proposal_code`: the operation's name inside its application, byte-exact. */
export type LoanCode = Brand<string, 'LoanCode'>;
/** UUID of a renegotiation. */
export type RenegotiationId = Brand<string, 'RenegotiationId'>;
export type InstallmentCode = Brand<string, 'InstallmentCode'>;
/** Instant of the business time in UTC, ISO 8601 with milliseconds and `Z`. */
export type Timestamp = Brand<string, 'Timestamp'>;
/** Instant of the real time, written like a `Timestamp`; a sandbox may have moved the business time ahead of it. */
export type RealTime = Brand<string, 'RealTime'>;
/** Personal data of a borrower, sealed with the operation's key; opaque to the domain. */
export type SealedBorrower = Brand<string, 'SealedBorrower'>;
