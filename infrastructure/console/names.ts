import { statusName as nameIn } from '../presenting/status-name.ts';
import { html } from './html.ts';
import type { View } from './html.ts';
import { spoken } from './language.ts';

export const statusName = (status: string): string => nameIn(status, spoken());

/** Which operation. */
export interface OperationKey {
  readonly applicationId: string;
  readonly code: string;
}

/** The page of an operation. */
export const operationPath = (applicationId: string, code: string): string =>
  `/operations/${encodeURIComponent(applicationId)}/${encodeURIComponent(code)}`;

/** An operation in a list, by its code. */
export const operationLink = ({ applicationId, code }: OperationKey): View =>
  html`<a class="code" href=${operationPath(applicationId, code)}>${code}</a>`;

/** Where it is decided on, beside its documents. */
export const decisionPath = ({ applicationId, code }: OperationKey): string =>
  `/decisions/${encodeURIComponent(applicationId)}/${encodeURIComponent(code)}`;

/** An address with what is given; what is undefined stands nowhere in it. */
export const withQuery = (path: string, query: Readonly<Record<string, string | undefined>>): string => {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`;
};
