import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { authority } from './certificates.ts';
import type { Authority } from './certificates.ts';
import { temporaryDirectory } from './temporary-directory.ts';
import { WebhookReceiver } from './webhook-receiver.ts';

interface Closed {
  close(): Promise<void>;
}

export interface TrustedReceiver<Receiver extends Closed = WebhookReceiver> extends Closed {
  readonly receiver: Receiver;
  /** With them a service delivers to it. */
  readonly settings: { readonly WEBHOOK_ALLOW_PRIVATE_NETWORK: string; readonly WEBHOOK_CA_FILE: string };
}

/** A receiver of this machine whose private authority stands in a file. */
export const trustedReceiver = async <Receiver extends Closed = WebhookReceiver>(
  start: (ca: Authority) => Promise<Receiver> = WebhookReceiver.start as never,
): Promise<TrustedReceiver<Receiver>> => {
  const directory = temporaryDirectory();
  const ca = await authority();
  const caFile = join(directory, 'ca.pem');
  await writeFile(caFile, ca.caPem);
  const receiver = await start(ca);
  return {
    receiver,
    settings: { WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true', WEBHOOK_CA_FILE: caFile },
    close: async () => {
      await receiver.close();
    },
  };
};
