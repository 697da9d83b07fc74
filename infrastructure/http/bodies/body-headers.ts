import type { IncomingMessage } from 'node:http';

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
