import type { LoanDetails } from '../../../../application/loans/loan-details.ts';
import { count, instant } from '../../format.ts';
import { html } from '../../html.ts';
import type { View } from '../../html.ts';
import type { Language } from '../../language.ts';
import { OPERATION } from './texts.ts';

const KIB = 1_024;

export const documentsView = (
  documents: LoanDetails['documents'],
  addressOf: (documentId: string) => string,
  language: Language,
): View => {
  const texts = OPERATION[language];
  const row = (one: LoanDetails['documents'][number]): View =>
    html`<tr>
      <td>
        ${
          one.value === null
            ? html`<span class="quiet">${texts.documentForgotten}</span>`
            : html`<a href=${addressOf(one.documentId)}>${one.value}</a>`
        }
      </td>
      <td>${one.type}</td>
      <td class="number">${count(Math.ceil(one.size / KIB))} KiB</td>
      <td>${instant(one.receivedAt)}</td>
      <td class="code">${one.sha256.slice(0, 16)}…</td>
    </tr>`;
  return html`
    <section aria-labelledby="documents-title">
      <h2 id="documents-title">${texts.documents}</h2>
      ${
        documents.length === 0
          ? html`<p>${texts.noDocuments}</p>`
          : html`<div class="overflow-auto" tabindex="0" role="region" aria-labelledby="documents-title">
              <table>
                <thead>
                  <tr>
                    <th scope="col">${texts.document}</th>
                    <th scope="col">${texts.kind}</th>
                    <th scope="col" class="number">${texts.size}</th>
                    <th scope="col">${texts.received}</th>
                    <th scope="col">SHA-256</th>
                  </tr>
                </thead>
                <tbody>
                  ${documents.map(row)}
                </tbody>
              </table>
            </div>`
      }
    </section>
  `;
};
