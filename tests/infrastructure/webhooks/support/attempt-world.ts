import type { Socket } from 'node:net';
import { expect } from '@jest/globals';
import { DnsAddressGuard } from '../../../../infrastructure/webhooks/addresses/address-guard.ts';
import type { Resolve } from '../../../../infrastructure/webhooks/addresses/address-guard.ts';
import type {
  AttemptOutcome,
  WebhookRequest,
  WebhookSender,
} from '../../../../infrastructure/webhooks/sending/webhook-sender.ts';
import { signingKeyOf } from '../../../../infrastructure/webhooks/sending/webhook-sender.ts';
import { HttpsSender } from '../../../../infrastructure/webhooks/sending/https-sender.ts';
import { webhookTrust } from '../../../../infrastructure/webhooks/sending/receiver-connections.ts';
import { authority } from '../../../support/certificates.ts';
import type { Authority, Leaf } from '../../../support/certificates.ts';
import { TlsReceiver } from '../../../support/tls-receiver.ts';
import type { Answer } from '../../../support/tls-receiver.ts';

/** Both steps of an attempt, as a dispatcher makes them. */
export const attemptWith = async (
  sender: WebhookSender,
  { url, ...request }: WebhookRequest & { readonly url: string },
  timeoutMs: number,
): Promise<AttemptOutcome> => {
  const located = await sender.locate(url, 'application', timeoutMs);
  return located.kind === 'found' ? sender.send(request, located.route, timeoutMs) : located;
};

/** For attempts that use up all the time they are given. */
export const SHORT_MS = 1_000;
/** For all others: on a busy machine a handshake may take a while. */
export const LONG_MS = 8_000;
const GRACE_MS = 2_000;

interface SenderOptions {
  readonly resolve?: Resolve;
  readonly allowPrivateNetwork?: boolean;
}

export const failed = (reason: string, error: string | RegExp, status: number | null = null) => ({
  kind: 'failed',
  status,
  reason,
  error: typeof error === 'string' ? error : (expect.stringMatching(error) as unknown),
});

export const late = (phase: string, status: number | null = null) =>
  failed('timeout', `timeout: no complete answer within ${SHORT_MS} ms (${phase})`, status);

/** Senders and receivers of one test file, under one authority; what a test opens is closed after it. */
export class AttemptWorld {
  readonly ca: Authority;
  readonly leaf: Leaf;
  readonly #closing: (() => Promise<void> | void)[] = [];

  private constructor(ca: Authority, leaf: Leaf) {
    this.ca = ca;
    this.leaf = leaf;
  }

  static async open(): Promise<AttemptWorld> {
    const ca = await authority();
    return new AttemptWorld(ca, await ca.leaf());
  }

  async closeAll(): Promise<void> {
    for (const close of this.#closing.splice(0)) await close();
  }

  sender({ resolve, allowPrivateNetwork = true }: SenderOptions = {}): HttpsSender {
    const guard = new DnsAddressGuard({ allowPrivateNetwork, ...(resolve && { resolve }) });
    const trust = webhookTrust(this.ca.caPem);
    const sender = new HttpsSender({ guard, trust, timeoutMs: LONG_MS, now: Date.now });
    this.#closing.push(() => sender.close());
    return sender;
  }

  async receiver(options: Parameters<typeof TlsReceiver.start>[0], behave?: Answer): Promise<TlsReceiver> {
    const started = await TlsReceiver.start(options);
    if (behave) started.answer = behave;
    this.#closing.push(() => started.close());
    return started;
  }

  async tcpReceiver(onConnection: (socket: Socket) => void): Promise<TlsReceiver> {
    const started = await TlsReceiver.startTcp(onConnection);
    this.#closing.push(() => started.close());
    return started;
  }

  /** Also checks that the attempt kept to its time. */
  async attempt(url: string, sender = this.sender(), timeoutMs = LONG_MS): Promise<AttemptOutcome> {
    const startedAt = performance.now();
    const key = signingKeyOf('secret');
    const request = { url, event: 'loan_received', eventId: 'id', body: '{}', attempt: 1, key };
    const outcome = await attemptWith(sender, request, timeoutMs);
    expect(performance.now() - startedAt).toBeLessThan(timeoutMs + GRACE_MS);
    return outcome;
  }
}
