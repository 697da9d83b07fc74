import type { LoanDetails } from '../../../../application/loans/loan-details.ts';
import { shownName } from '../../../support/stored-files.ts';
import { count, instant } from '../../format.ts';
import { html } from '../../html.ts';
import type { View } from '../../html.ts';
import type { Language } from '../../language.ts';
import { tableView } from '../../table.ts';
import { OPERATION } from './texts.ts';

const KIB = 1_024;

export const documentsView = (
  documents: LoanDetails['documents'],
  addressOf: (documentId: string) => string,
  language: Language,
): View => {
  const texts = OPERATION[language];
  return html`
    <section aria-labelledby="documents-title">
      <h2 id="documents-title">${texts.documents}</h2>
      ${
        documents.length === 0
          ? html`<p>${texts.noDocuments}</p>`
          : tableView(
              { titledBy: 'documents-title' },
              [
                [
                  texts.document,
                  ({ documentId, value }) =>
                    value === null
                      ? html`<span class="quiet">${texts.documentForgotten}</span>`
                      : html`<a href=${addressOf(documentId)}>${shownName(value)}</a>`,
                ],
                [texts.kind, ({ type }) => type],
                [texts.size, ({ size }) => `${count(Math.ceil(size / KIB))} KiB`, 'number'],
                [texts.received, ({ receivedAt }) => instant(receivedAt)],
                ['SHA-256', ({ sha256 }) => `${sha256.slice(0, 16)}…`, 'code'],
              ],
              documents,
            )
      }
    </section>
  `;
};
