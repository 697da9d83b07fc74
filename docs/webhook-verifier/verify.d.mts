export interface ReceivedWebhook {
  /** Raw request body. */
  readonly body: Uint8Array;
  /** Request headers by lower-case name, as Node.js gives them. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

interface Tolerance {
  /** Seconds that the time of sending may differ from this machine's clock; default 300. */
  readonly toleranceSeconds?: number;
  /** UNIX seconds; default: now. */
  readonly now?: number;
}

/** The subscription's `signing_secret`, or while it is rotated the new one and the old one. */
export type VerifyOptions = Tolerance &
  ({ readonly secrets: readonly string[] } | { readonly secret: string });

export type RejectionReason = 'missing_header' | 'stale_timestamp' | 'wrong_signature';

export declare class WebhookRejectedError extends Error {
  readonly reason: RejectionReason;
  constructor(reason: RejectionReason, message: string);
}

/**
 * Returns the event's id, by which you recognise an event that you have handled already. Handle the body only after this.
 * @throws WebhookRejectedError answer such a request with 401 and forget it
 */
export declare const verifyWebhook: (webhook: ReceivedWebhook, options: VerifyOptions) => string;
