import type { ServerResponse } from 'node:http';
import { ClientGoneError } from '../errors/http-problem.ts';
import type { Exchange } from './exchange.ts';

/** A client that takes nothing for so long has given up. */
const STALLED_MS = 30_000;

/** True when there is room again; false when the client is gone, or takes nothing any more. */
const drained = (res: ServerResponse): Promise<boolean> =>
  new Promise((resolve) => {
    const settle = (more: boolean) => (): void => {
      clearTimeout(timer);
      res.off('drain', onDrain).off('close', onClose);
      resolve(more);
    };
    const [onDrain, onClose] = [settle(true), settle(false)];
    const timer = setTimeout(onClose, STALLED_MS);
    res.on('drain', onDrain).on('close', onClose);
    if (res.destroyed) onClose();
  });

/**
 * Sends a body piece by piece, never more than the connection takes. The head goes out with the first piece, so that what fails before
 * can still be answered; what fails later cuts the connection, and the announced length tells the client that something is missing.
 */
export const sendPieces = async (
  { req, res }: Exchange,
  status: number,
  headers: readonly string[],
  pieces: AsyncIterable<Uint8Array>,
): Promise<void> => {
  try {
    for await (const piece of pieces) {
      if (!res.headersSent) res.writeHead(status, [...headers]);
      if (req.method === 'HEAD') break;
      if (!res.write(piece) && !(await drained(res))) throw new ClientGoneError('closed or stalled');
    }
    if (!res.headersSent) res.writeHead(status, [...headers]);
    res.end();
  } catch (error) {
    if (res.headersSent) res.destroy();
    throw error;
  }
};
