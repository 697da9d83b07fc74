import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ClientGoneError } from '../errors/http-problem.ts';
import type { UploadSession } from '../bodies/upload-session.ts';
import type { RateState } from '../limits/rate-limiter.ts';
import { addressKey, clientAddress } from './client-address.ts';

/** One request and its response, with what the steps between them find out. */
export class Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** Always made here: a caller's own id could not be trusted to be unique. */
  readonly requestId: string = randomUUID();
  readonly #trustedHops: number;
  /** The bucket that was drawn from, once one was. */
  rate: RateState | undefined = undefined;
  /** Whose request it is, once that is known. */
  applicationId: string | undefined = undefined;
  uploads: UploadSession | undefined = undefined;

  constructor(req: IncomingMessage, res: ServerResponse, trustedHops: number) {
    this.req = req;
    this.res = res;
    this.#trustedHops = trustedHops;
  }

  /** Aborted with a ClientGoneError when the connection closes before the answer. */
  get gone(): AbortSignal {
    const { req, res } = this;
    const controller = new AbortController();
    const leave = (): void => controller.abort(new ClientGoneError('closed before its answer'));
    if (res.destroyed || req.socket.destroyed) leave();
    else res.once('close', () => res.writableFinished || leave());
    return controller.signal;
  }

  get addressKey(): string {
    return addressKey(clientAddress(this.req, this.#trustedHops));
  }
}
