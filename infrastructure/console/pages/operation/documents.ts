import type { LoanDetails } from '../../../../application/loans/loan-details.ts';
import { shownName } from '../../../support/stored-files.ts';
import { count, instant } from '../../format.ts';
import { empty, html, section, tableView } from '../../html.ts';
import type { View } from '../../html.ts';
import { operationPath, documentPath } from '../../paths.ts';
import type { OperationKey } from '../../paths.ts';
import type { Visit } from '../../page.ts';
import { words } from '../words.ts';
import { fieldLabel } from './recorded-texts.ts';
import { texts } from './texts.ts';

type Document = LoanDetails['documents'][number] & { readonly value: string };
interface Of extends OperationKey {
  readonly documents: LoanDetails['documents'];
}

const KIB = 1_024;
const MOST_SHOWN = 2;

const canBeShown = (one: LoanDetails['documents'][number]): one is Document =>
  one.value !== null && /\.pdf$/i.test(one.value);

export const chosenDocuments = ({ documents }: Of, { query }: Visit): readonly Document[] =>
  [...new Set(query.getAll('document'))]
    .flatMap((id) => documents.filter(({ documentId }) => documentId === id))
    .filter(canBeShown)
    .slice(0, MOST_SHOWN);

const addressWith = (of: Of, { query }: Visit, chosen: readonly Document[]): string => {
  const asked = new URLSearchParams(query);
  asked.delete('document');
  for (const { documentId } of chosen) asked.append('document', documentId);
  const text = asked.toString();
  return `${operationPath(of.applicationId, of.code)}${text && `?${text}`}#documents-title`;
};

const choice = (one: LoanDetails['documents'][number], of: Of, visit: Visit): View => {
  if (!canBeShown(one)) return null;
  const chosen = chosenDocuments(of, visit);
  const others = chosen.filter((other) => other.documentId !== one.documentId);
  const isChosen = others.length < chosen.length;
  const to = addressWith(of, visit, isChosen ? others : [...others.slice(0, MOST_SHOWN - 1), one]);
  const says = isChosen ? texts.close : chosen.length === 0 ? texts.showBeside : texts.showBoth;
  return html`<a href=${to} aria-label=${`${says}: ${shownName(one.value)}`}>${says}</a>`;
};

export const frameView = (one: Document, { applicationId, code }: Of): View =>
  html`<iframe
    class="document"
    title=${shownName(one.value)}
    src=${documentPath(applicationId, code, one.documentId)}
  ></iframe>`;

export const documentsView = (of: Of, visit: Visit): View => {
  const address = (documentId: string): string => documentPath(of.applicationId, of.code, documentId);
  return section(
    'documents-title',
    words.documents,
    tableView(
      { titledBy: 'documents-title', dense: true, empty: empty(words.noDocuments) },
      [
        [
          texts.document,
          ({ documentId, value }) =>
            value === null
              ? html`<span class="quiet">${texts.documentForgotten}</span>`
              : html`<a href=${address(documentId)}>${shownName(value)}</a>`,
        ],
        [words.kind, ({ type }) => type],
        [texts.size, ({ size }) => `${count(Math.ceil(size / KIB))} KiB`, 'number'],
        [fieldLabel('received_at'), ({ receivedAt }) => instant(receivedAt), 'date'],
        ['SHA-256', ({ sha256 }) => html`<span title=${sha256}>${sha256.slice(0, 8)}…</span>`, 'code'],
        [texts.look, (one) => choice(one, of, visit)],
      ],
      of.documents,
    ),
  );
};
