import type { IncomingMessage, ServerResponse } from 'node:http';

const UTF8 = /^(utf-?8|us-ascii)$/i;
const CHARSET = /;\s*charset\s*=\s*"?([^\s;"]*)"?/i;

/** Media type of the body in lower case, without parameters; undefined when the header is absent. */
export const mediaTypeOf = (req: IncomingMessage): string | undefined => {
  const header = req.headers['content-type'];
  if (header === undefined || header === 'application/json') return header;
  const end = header.indexOf(';');
  return (end < 0 ? header : header.slice(0, end)).trim().toLowerCase();
};

/** Text is read as UTF-8 and nothing else. */
export const hasForeignCharset = (req: IncomingMessage): boolean => {
  const header = req.headers['content-type'];
  if (header === undefined || !header.includes(';')) return false;
  const charset = CHARSET.exec(header)?.[1];
  return charset !== undefined && !UTF8.test(charset);
};

/** Compressed bodies are not read. */
export const isEncoded = (req: IncomingMessage): boolean => {
  const encoding = req.headers['content-encoding'];
  return encoding !== undefined && encoding.toLowerCase() !== 'identity';
};

/** Declared length of the body; undefined when it is chunked, 0 when there is none. */
export const declaredLength = (req: IncomingMessage): number | undefined => {
  if (req.headers['transfer-encoding'] !== undefined) return undefined;
  const length = req.headers['content-length'];
  return length === undefined ? 0 : Number(length);
};

/** Responses whose client waits for `100 Continue` before it sends the body. */
export const awaitingContinue = new WeakSet<ServerResponse>();

export const letContinue = (res: ServerResponse): void => {
  if (awaitingContinue.delete(res)) res.writeContinue();
};
