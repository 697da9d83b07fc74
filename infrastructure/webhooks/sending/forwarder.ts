import type { PublicEvent } from '../../../application/ports/event-bus.ts';
import { DeliveryRequest } from './delivery-request.ts';
import { outcomeOf } from './https-sender.ts';
import { ReceiverConnection, connector } from './receiver-connections.ts';
import { signingKeyOf } from './webhook-sender.ts';

interface Options {
  readonly url: string;
  readonly secret: string;
  /** For a whole attempt. */
  readonly timeoutMs: number;
  /** UNIX time in milliseconds. */
  readonly now: () => number;
}

/**
 * Posts events to a receiver that an operator named, as the service posts webhooks and reading no more of an answer; plain http is
 * allowed. Nothing is tried again.
 */
export class WebhookForwarder {
  readonly secret: string;
  readonly #options: Options;
  readonly #key;
  readonly #target: URL;
  readonly #connect;

  constructor(options: Options) {
    this.secret = options.secret;
    this.#options = options;
    this.#target = new URL(options.url);
    this.#key = signingKeyOf(options.secret);
    this.#connect = connector({ timeout: options.timeoutMs, allowH2: false });
  }

  /** The status of the answer, or why there is none. Never throws. */
  async send(
    event: Pick<PublicEvent, 'eventId' | 'name' | 'body'>,
    attempt: number,
    signal: AbortSignal,
  ): Promise<string> {
    const { timeoutMs } = this.#options;
    const exchange = new DeliveryRequest();
    const connection = this.#connection();
    const stop = (): void => exchange.interrupt('cut_off');
    const timer = setTimeout(() => exchange.interrupt('late'), timeoutMs);
    signal.addEventListener('abort', stop, { once: true });
    try {
      if (signal.aborted) stop();
      else {
        const { eventId, name, body } = event;
        const { pathname, search } = this.#target;
        const request = { event: name, eventId, attempt, body, key: this.#key };
        connection.post(pathname + search, request, this.#options.now(), exchange);
      }
      const result = await exchange.result;
      if (result.kind === 'answered') return String(result.status);
      const outcome = outcomeOf(result, timeoutMs);
      return outcome.kind === 'failed' ? outcome.error : 'stopped';
    } finally {
      signal.removeEventListener('abort', stop);
      clearTimeout(timer);
      exchange.cancel();
      connection.destroy();
    }
  }

  #connection(): ReceiverConnection {
    const destination = { target: { origin: this.#target.origin }, addresses: undefined };
    return new ReceiverConnection(destination, {
      connector: { connect: (_addresses, ...to) => this.#connect(...to) },
      acceptsPeer: () => true,
      phaseTimeoutMs: this.#options.timeoutMs,
    });
  }
}
