import type { IncomingMessage, ServerResponse } from 'node:http';

const LONGEST_MS = 2_000;
const MOST_BYTES = 8 * 1_048_576;

/**
 * Ends a response whose request is still arriving. Closing at once would reset the connection and could take the answer away
 * from a client that is busy sending; so what arrives is thrown away for a little while, and then the connection is closed.
 */
export const lingeringEnd = (req: IncomingMessage, res: ServerResponse): void => {
  let bytes = 0;
  const end = (): void => {
    clearTimeout(timer);
    req.off('data', onData).off('end', end).off('close', end);
    res.end();
  };
  const onData = (chunk: Buffer): void => {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) end();
  };
  const timer = setTimeout(end, LONGEST_MS);
  req.unpipe();
  req.on('data', onData).on('end', end).on('close', end);
  req.resume();
};
