import type { ExplainedPrice } from '../../../../application/audit/explained-price.ts';
import type { CarriedAmount, ExplainedLine } from '../../../../domain/curve/explained-value.ts';
import { amount, count, date } from '../../format.ts';
import { html } from '../../html.ts';
import type { View } from '../../html.ts';
import type { Language } from '../../language.ts';
import { OPERATION } from './texts.ts';

/** Exact numbers, up to thirty digits, stay as the engine wrote them: the copy of a cell can be checked by any calculator. */
const part = (name: View, carried: CarriedAmount, line: ExplainedLine | undefined): View => html`
  <tr>
    <td class="code">${name}</td>
    <td>${date(carried.date)}</td>
    <td class="number">${carried.amount}</td>
    <td class="number">${count(carried.days)}</td>
    <td class="number">${carried.factor}</td>
    <td class="number">${carried.carried}</td>
    <td class="number">${line?.runningTotal}</td>
    <td class="number">${line && amount(line.roundedTotal)}</td>
    <td class="number">${line && amount(line.presentValue)}</td>
  </tr>
`;

/** The face of each installment, the credits that are taken off it, and what that adds up to. */
export const linesView = (lines: readonly ExplainedLine[], language: Language): View => {
  const texts = OPERATION[language];
  if (lines.length === 0) return null;
  const rows = (line: ExplainedLine): View => {
    const last = line.credits.length - 1;
    return [
      part(line.installmentCode, line.face, last < 0 ? line : undefined),
      ...line.credits.map((credit, i) => part(`− ${texts.credit}`, credit, i === last ? line : undefined)),
    ];
  };
  return html`
    <div class="overflow-auto" tabindex="0" role="region" aria-label=${texts.lineByLine}>
      <table class="dense">
        <thead>
          <tr>
            <th scope="col">${texts.line}</th>
            <th scope="col">${texts.date}</th>
            <th scope="col" class="number">${texts.cents}</th>
            <th scope="col" class="number">${texts.days}</th>
            <th scope="col" class="number">${texts.power}</th>
            <th scope="col" class="number">${texts.carried}</th>
            <th scope="col" class="number">${texts.running}</th>
            <th scope="col" class="number">${texts.rounded}</th>
            <th scope="col" class="number">${texts.value}</th>
          </tr>
        </thead>
        <tbody>
          ${lines.map(rows)}
        </tbody>
      </table>
    </div>
  `;
};

/** The words are the engine's own, as `audit show` prints them. */
export const priceView = ({ title, lines, steps }: ExplainedPrice, language: Language): View => html`
  <h4>${OPERATION[language].price}</h4>
  <p lang="en">${title}</p>
  ${linesView(lines, language)}
  <ul lang="en">
    ${steps.map((step) => html`<li>${step}</li>`)}
  </ul>
`;
