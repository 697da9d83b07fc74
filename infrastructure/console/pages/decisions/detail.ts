import type { LoanDetails } from '../../../../application/loans/loan-details.ts';
import { amount, date, instant } from '../../format.ts';
import { fact, html } from '../../html.ts';
import type { View } from '../../html.ts';
import { statusName } from '../../names.ts';
import { tokenField } from '../../layout.ts';
import type { Visit } from '../../page.ts';
import { WORDS } from '../words.ts';
import { documentPath } from './document.ts';
import { OFFERED, isAwaiting, keyOf } from './offered.ts';
import { DECISIONS } from './texts.ts';
import { decisionButtons } from './worklist.ts';

const facts = (rows: readonly (readonly [name: string, value: View])[]): View => html`
  <dl class="facts">${rows.map(([name, value]) => fact(name, value))}</dl>
`;

const factsOf = (loan: LoanDetails, applicationId: string, { language }: Visit): View => {
  const [texts, words] = [DECISIONS[language], WORDS[language]];
  const { repurchase } = loan;
  return facts([
    [words.status, statusName(loan.status, language)],
    [words.acquisitionValue, amount(loan.acquisitionValue)],
    [texts.product, loan.productType],
    [texts.issued, date(loan.dateIssued)],
    [texts.received, instant(loan.receivedAt)],
    [texts.borrower, loan.borrower?.documentNumber ?? texts.forgotten],
    [words.fund, html`<span class="code">${loan.fundId}</span>`],
    [words.application, html`<span class="code">${applicationId}</span>`],
    ...(repurchase
      ? ([
          [texts.repurchaseValue, amount(repurchase.repurchaseValue)],
          [texts.effectiveDate, date(repurchase.effectiveDate)],
        ] as const)
      : []),
  ]);
};

const scheduleOf = ({ installments }: LoanDetails, { language }: Visit): View => {
  const texts = DECISIONS[language];
  return html`
    <h2>${texts.schedule}</h2>
    <div class="overflow-auto" tabindex="0" role="region" aria-label=${texts.schedule}>
      <table>
        <thead>
          <tr>
            <th scope="col">${texts.dueDate}</th>
            <th scope="col" class="number">${texts.faceValue}</th>
          </tr>
        </thead>
        <tbody>
          ${installments.map(
            (one) =>
              html`<tr>
                <td>${date(one.dueDate)}</td>
                <td class="number">${amount(one.faceValue)}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
  `;
};

const documentsOf = ({ code, documents }: LoanDetails, applicationId: string, { language }: Visit): View => {
  const texts = DECISIONS[language];
  const readable = documents.filter(({ value }) => value !== null);
  const [first] = readable.filter(({ value }) => /\.pdf$/i.test(value!));
  const path = (documentId: string): string => documentPath(applicationId, code, documentId);
  return html`
    <h2>${texts.documents}</h2>
    ${
      documents.length === 0
        ? html`<p>${texts.noDocuments}</p>`
        : html`<ul>
            ${documents.map(
              ({ documentId, type, value }) =>
                html`<li>
                  ${
                    value === null
                      ? html`${type}: ${texts.forgotten}`
                      : html`<a href=${path(documentId)} target="document">${type}: ${value}</a>`
                  }
                </li>`,
            )}
          </ul>`
    }
    ${
      first &&
      html`<iframe
        class="document"
        name="document"
        title=${texts.shownDocument}
        src=${path(first.documentId)}
      ></iframe>`
    }
  `;
};

/** One operation beside its documents, with what can be decided about it. */
export const detailView = (loan: LoanDetails, applicationId: string, visit: Visit): View => {
  const { status, code } = loan;
  const texts = DECISIONS[visit.language];
  return html`
    <p><a href="/decisions">${texts.back}</a></p>
    <div class="side-by-side">
      <div>
        ${factsOf(loan, applicationId, visit)}
        ${
          isAwaiting(status) &&
          html`<form method="post" action="/decisions/preview" class="actions">
            ${tokenField(visit)}
            <input type="hidden" name="operation" value=${keyOf({ applicationId, code })} />
            ${decisionButtons(OFFERED[status], visit)}
          </form>`
        }
        ${scheduleOf(loan, visit)}
      </div>
      <div>${documentsOf(loan, applicationId, visit)}</div>
    </div>
  `;
};
