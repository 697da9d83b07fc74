import { parentPort, receiveMessageOnPort } from 'node:worker_threads';
import type { MessagePort } from 'node:worker_threads';
import { messageOf } from '../../application/support/failures.ts';

/** What the near side sends. The requests of a batch are answered in their order. */
export type ToThread<Request> =
  { readonly kind: 'batch'; readonly requests: readonly Request[] } | { readonly kind: 'close' };

/** What the thread sends: `ready` once, or `failed` and the thread ends; then one message for each group that it carried out. */
export type FromThread<Reply> =
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'replies'; readonly replies: readonly Reply[] };

/** What a thread does with its connection. */
export interface GroupWork<Request, Reply> {
  /** One transaction for all of them. @throws when it is unknown what was stored: the thread must then start afresh */
  carryOut(requests: readonly Request[]): readonly Reply[];
  /** After a group was answered. */
  afterwards?(): void;
  close(): void;
}

/** Everything that waits at the moment, up to a bound: it has gathered while the group before was flushed. */
const drain = <Request>(port: MessagePort, first: ToThread<Request>, most: number) => {
  const requests: Request[] = [];
  let message: ToThread<Request> | undefined = first;
  while (message?.kind === 'batch') {
    requests.push(...message.requests);
    if (requests.length >= most) break;
    message = receiveMessageOnPort(port)?.message as ToThread<Request> | undefined;
  }
  return { requests, closing: message?.kind === 'close' };
};

/** The far side of a DatabaseThread. */
export const serveThread = <Request, Reply>(
  open: () => GroupWork<Request, Reply>,
  mostInGroup: number,
): void => {
  const port = parentPort!;
  const post = (message: FromThread<Reply>): void => port.postMessage(message);
  let work: GroupWork<Request, Reply>;
  try {
    work = open();
  } catch (error) {
    post({ kind: 'failed', message: messageOf(error) });
    return;
  }
  port.on('message', (first: ToThread<Request>) => {
    const { requests, closing } = drain(port, first, mostInGroup);
    if (requests.length > 0) post({ kind: 'replies', replies: work.carryOut(requests) });
    work.afterwards?.();
    if (!closing) return;
    work.close();
    port.close();
  });
  post({ kind: 'ready' });
};
