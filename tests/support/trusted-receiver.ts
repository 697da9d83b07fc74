import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { authority } from './certificates.ts';
import type { Authority } from './certificates.ts';
import { temporaryDirectory } from './temporary-directory.ts';
import { WebhookReceiver } from './webhook-receiver.ts';

/** With these settings a service delivers to receivers of this machine that this authority vouches for. */
export const trusting = ({ caPem }: Pick<Authority, 'caPem'>) => {
  const caFile = join(temporaryDirectory(), 'ca.pem');
  writeFileSync(caFile, caPem);
  return { WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true', WEBHOOK_CA_FILE: caFile };
};

interface Closed {
  close(): Promise<void>;
}

export interface TrustedReceiver<Receiver extends Closed = WebhookReceiver> extends Closed {
  readonly receiver: Receiver;
  /** With them a service delivers to it. */
  readonly settings: ReturnType<typeof trusting>;
}

/** A receiver of this machine whose private authority stands in a file. */
export const trustedReceiver = async <Receiver extends Closed = WebhookReceiver>(
  start: (ca: Authority) => Promise<Receiver> = WebhookReceiver.start as never,
): Promise<TrustedReceiver<Receiver>> => {
  const ca = await authority();
  const receiver = await start(ca);
  return {
    receiver,
    settings: trusting(ca),
    close: async () => {
      await receiver.close();
    },
  };
};
