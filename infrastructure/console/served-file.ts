import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { PDF, disposition } from '../support/stored-files.ts';
import type { Answer } from './page.ts';

/** Whatever a file holds, it runs nothing, reaches nothing and sends nothing. */
const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'self'";
/** A browser's own reader of PDF is stopped by `sandbox`; it runs no script of a page either. */
const PDF_POLICY = `${POLICY}; object-src 'self'`;

/** The type is the one that the content has: nothing is derived from the name. */
export const sendFile = async (
  res: ServerResponse,
  { name, mediaType, inline = false, content }: Answer & { readonly kind: 'file' },
): Promise<void> => {
  const isPdf = mediaType === PDF;
  res.setHeader('Content-Security-Policy', isPdf ? PDF_POLICY : `${POLICY}; sandbox`);
  res.setHeader('Content-Disposition', disposition(isPdf && inline ? 'inline' : 'attachment', name));
  res.setHeader('Content-Type', mediaType);
  // So that what fails before the first piece is answered as a problem.
  await pipeline(content, res);
};
