import { createSecretKey } from 'node:crypto';
import { signedHeaders } from './webhook-sender.ts';

interface Forwarded {
  readonly eventId: string;
  readonly name: string;
  readonly body: string;
}

interface Options {
  readonly url: string;
  readonly secret: string;
  /** For a whole attempt. */
  readonly timeoutMs: number;
  /** UNIX time in milliseconds. */
  readonly now: () => number;
}

/** `fetch` hides why it failed in the cause. */
const causeOf = (error: unknown): string => {
  const { message, cause } = error as Error & { readonly cause?: { message?: string; code?: string } };
  return cause?.message || cause?.code || message;
};

/** Posts events to a receiver that an operator named, as the service posts webhooks; plain http is allowed. Nothing is tried again. */
export class WebhookForwarder {
  readonly secret: string;
  readonly #options: Options;
  readonly #key;

  constructor(options: Options) {
    this.secret = options.secret;
    this.#options = options;
    this.#key = createSecretKey(Buffer.from(options.secret, 'utf8'));
  }

  /** The status of the answer, or why there is none. Never throws. */
  async send({ eventId, name, body }: Forwarded, attempt: number, signal: AbortSignal): Promise<string> {
    const { url, timeoutMs, now } = this.#options;
    const bytes = Buffer.from(body, 'utf8');
    const timestamp = String(Math.floor(now() / 1000));
    const request = { event: name, eventId, attempt, body: bytes, key: this.#key };
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: signedHeaders(request, timestamp),
        body: bytes,
        redirect: 'manual',
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      });
      await response.body?.cancel();
      return String(response.status);
    } catch (error) {
      return causeOf(error);
    }
  }
}
