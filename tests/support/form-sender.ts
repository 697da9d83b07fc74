import { request } from 'node:http';
import type { ClientRequest } from 'node:http';

/** Parts of a form as they go over the wire; an end is a part of its own, because it may never be sent. */
export const filePart = (name: string, content = '%PDF-1.4\n'): string =>
  `--b\r\nContent-Disposition: form-data; name="files"; filename="${name}"\r\n\r\n${content}\r\n`;
export const textPart = (name: string, text: string): string =>
  `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`;
export const FORM_END = '--b--\r\n';

export interface FormSender {
  readonly outgoing: ClientRequest;
  /** Status and headers of the answer, or the failure of the connection. */
  readonly answered: Promise<{ readonly status: number; readonly retryAfter?: string | undefined } | Error>;
}

/** Begins to send a form on a connection of its own. Whoever began it ends it, or leaves it as it is. */
export const beginForm = (
  target: { readonly url: string; readonly method?: string; readonly token: string },
  start: string | Buffer,
): FormSender => {
  const headers = {
    authorization: `Bearer ${target.token}`,
    'content-type': 'multipart/form-data; boundary=b',
  };
  const outgoing = request(target.url, { method: target.method ?? 'POST', agent: false, headers });
  const answered = new Promise<{ status: number; retryAfter?: string | undefined } | Error>((resolve) => {
    outgoing.on('error', resolve).on('response', (response) => {
      response.on('error', () => undefined).resume();
      resolve({ status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'] });
    });
  });
  outgoing.write(start);
  return { outgoing, answered };
};
