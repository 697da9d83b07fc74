import type { Refused } from './errors.ts';

/** What became of one attempt: an answer, or none. */
export type Outcome = Refused | { readonly lost: unknown };

/** How a connection fails before anything of the request has left. */
const NOT_SENT = new Set([
  ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'],
  ...['DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  ...['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'ERR_TLS_CERT_ALTNAME_INVALID', 'CERT_HAS_EXPIRED'],
  ...['CERT_NOT_YET_VALID'],
]);

/** A connection that stood can fail with a code of those, too. */
const ESTABLISHED = new Set(['read', 'write']);

const codeOf = ({ code, syscall = '' }: NodeJS.ErrnoException): string | undefined =>
  ESTABLISHED.has(syscall) ? syscall : code;

const codesOf = (error: unknown): readonly unknown[] => {
  if (!(error instanceof Error)) return [];
  const several = error instanceof AggregateError ? error.errors.flatMap(codesOf) : [];
  return [codeOf(error), ...several, ...codesOf(error.cause)].filter(Boolean);
};

/** Whether the request may have reached the service, though no answer came. */
export const mayHaveArrived = (lost: unknown): boolean => {
  const codes = codesOf(lost);
  return codes.length === 0 || !codes.every((code) => NOT_SENT.has(String(code)));
};

/** Refusals that say that nothing was done, whatever was asked. */
const DONE_NOTHING = new Set([408, 409]);

/** Whether the request may be sent again without doing anything twice. @param idempotent that it may be carried out twice */
export const mayRepeat = (outcome: Outcome, idempotent: boolean): boolean => {
  if ('lost' in outcome) return idempotent || !mayHaveArrived(outcome.lost);
  const { status, refusal } = outcome;
  if (status === 429) return true;
  return status >= 500 ? idempotent : DONE_NOTHING.has(status) && refusal?.retryable === true;
};

const FIRST_MS = 500;
const LONGEST_MS = 20_000;

/**
 * Milliseconds to wait before the next attempt: never less than the service asked for, otherwise doubling. Chance spreads those who
 * were refused together.
 */
export const waitBefore = (outcome: Outcome, attempt: number, chance: () => number = Math.random): number => {
  const asked = 'lost' in outcome ? undefined : outcome.retryAfter;
  if (asked !== undefined) return asked * 1_000 + chance() * 250;
  const most = Math.min(LONGEST_MS, FIRST_MS * 2 ** (attempt - 1));
  return most * (0.5 + chance() / 2);
};

/** Seconds that a Retry-After asks for: a number of them, or a date. */
export const secondsOf = (retryAfter: string | null, now = Date.now()): number | undefined => {
  if (retryAfter === null) return undefined;
  if (/^\d{1,9}(\.\d+)?$/.test(retryAfter)) return Number(retryAfter);
  const date = /^[a-z]/i.test(retryAfter) ? Date.parse(retryAfter) : NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, (date - now) / 1_000);
};
