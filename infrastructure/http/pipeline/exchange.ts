import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { UploadSession } from '../bodies/upload-area.ts';
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
  uploads: UploadSession | undefined = undefined;

  constructor(req: IncomingMessage, res: ServerResponse, trustedHops: number) {
    this.req = req;
    this.res = res;
    this.#trustedHops = trustedHops;
  }

  get addressKey(): string {
    return addressKey(clientAddress(this.req, this.#trustedHops));
  }
}
