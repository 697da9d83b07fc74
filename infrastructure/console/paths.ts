import type { OperationPlace } from '../../application/command-handling/operation.ts';
import { html } from './html.ts';
import type { View } from './html.ts';
import type { Visit } from './page.ts';

/** What stands behind the path of a request. Ids of funds are in small letters wherever they are compared; tools and people write them in capitals, too. */
export const queryOf = (address: string): URLSearchParams => {
  const { searchParams } = new URL(address, 'http://console');
  const fund = searchParams.get('fund');
  if (fund !== null) searchParams.set('fund', fund.toLowerCase());
  return searchParams;
};

/** Of a route that names one. */
export const operationIn = ({
  params: { application: applicationId = '', code = '' },
}: Pick<Visit, 'params'>): OperationPlace => ({ applicationId, code });

export const operationPath = (applicationId: string, code: string): string =>
  `/operations/${encodeURIComponent(applicationId)}/${encodeURIComponent(code)}`;

/** Nothing where it is of no operation. */
export const operationLink = ({
  applicationId,
  code,
}: { [Name in keyof OperationPlace]?: string | null | undefined }): View =>
  applicationId && code && html`<a class="code" href=${operationPath(applicationId, code)}>${code}</a>`;

export const decisionPath = ({ applicationId, code }: OperationPlace): string =>
  `/decisions/${encodeURIComponent(applicationId)}/${encodeURIComponent(code)}`;

export const documentPath = (applicationId: string, code: string, documentId: string): string =>
  `/documents/${[applicationId, code, documentId].map(encodeURIComponent).join('/')}`;

/** An address with what is given; what is undefined stands nowhere in it. */
export const withQuery = (path: string, query: Readonly<Record<string, string | undefined>>): string => {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`;
};

type Place<Name extends string> = Readonly<Record<Name, string>>;

export const placeText = <Name extends string>(names: readonly Name[], place: Place<Name>): string =>
  Buffer.from(JSON.stringify(names.map((name) => place[name]))).toString('base64url');

/** Undefined for anything that `placeText` did not make of these: the list then begins at its start. */
export const placeIn = <Name extends string>(
  names: readonly Name[],
  text: string | null,
): Place<Name> | undefined => {
  try {
    const read: unknown = JSON.parse(Buffer.from(text ?? '', 'base64url').toString());
    const isPlace =
      Array.isArray(read) && read.length === names.length && read.every((part) => typeof part === 'string');
    if (!isPlace) return undefined;
    return Object.fromEntries(names.map((name, i) => [name, read[i]])) as Place<Name>;
  } catch {
    return undefined;
  }
};
