import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { authority } from './certificates.ts';
import { temporaryDirectory } from './temporary-directory.ts';
import { WebhookReceiver } from './webhook-receiver.ts';

export interface TrustedReceiver {
  readonly receiver: WebhookReceiver;
  /** With them a service delivers to it. */
  readonly settings: { readonly WEBHOOK_ALLOW_PRIVATE_NETWORK: string; readonly WEBHOOK_CA_FILE: string };
  close(): Promise<void>;
}

/** A receiver of this machine whose private authority stands in a file. */
export const trustedReceiver = async (): Promise<TrustedReceiver> => {
  const directory = await temporaryDirectory();
  const ca = await authority();
  const caFile = join(directory.path, 'ca.pem');
  await writeFile(caFile, ca.caPem);
  const receiver = await WebhookReceiver.start(ca);
  return {
    receiver,
    settings: { WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true', WEBHOOK_CA_FILE: caFile },
    close: async () => {
      await receiver.close();
      await directory.remove();
    },
  };
};
