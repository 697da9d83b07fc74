/** Stable words for metrics and logs. */
export type FailureReason =
  | 'http_status'
  | 'timeout'
  | 'connection_refused'
  | 'connection_lost'
  | 'unreachable'
  | 'dns'
  | 'certificate'
  | 'tls'
  | 'blocked_address'
  | 'invalid_answer'
  | 'invalid_url'
  | 'other';

interface Answer {
  /** The first 2 KiB of the answer's body; absent when nothing of it came. */
  readonly responseBody?: string;
}

export interface FailedAttempt extends Answer {
  readonly kind: 'failed';
  /** null when no status line came back */
  readonly status: number | null;
  readonly reason: FailureReason;
  /** One line for the delivery log. */
  readonly error: string;
}

export type AttemptOutcome =
  | ({ readonly kind: 'delivered'; readonly status: number } & Answer)
  | FailedAttempt
  /** Cut off by ourselves while stopping: nobody knows what the receiver made of it. */
  | { readonly kind: 'abandoned' };

/** Statuses by which a gateway says that what is behind it is not there. */
const GATEWAY_DOWN = new Set([502, 503, 504]);

/** True when the endpoint as a whole is not answering, rather than refusing this one event. */
export const saysEndpointIsDown = (outcome: AttemptOutcome): boolean => {
  if (outcome.kind !== 'failed') return false;
  if (outcome.reason === 'http_status') return GATEWAY_DOWN.has(outcome.status ?? 0);
  return outcome.status === null;
};
