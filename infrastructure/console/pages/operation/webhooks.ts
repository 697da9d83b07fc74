import { instant } from '../../format.ts';
import { html } from '../../html.ts';
import type { View } from '../../html.ts';
import type { Language } from '../../language.ts';
import type { ShownDelivery } from '../../services.ts';
import { OPERATION } from './texts.ts';

const answerOf = ({ lastResponseStatus, lastError }: ShownDelivery): string =>
  [lastResponseStatus, lastError].filter((one) => one !== null).join(' · ');

const row = (one: ShownDelivery, language: Language): View => html`
  <tr>
    <td class="code">${one.event}</td>
    <td class="code">${one.url}</td>
    <td><span class=${`state ${one.status}`}>${OPERATION[language].deliveries[one.status]}</span></td>
    <td class="number">${one.attempts}</td>
    <td>${answerOf(one)}</td>
    <td>${instant(one.deliveredAt ?? one.lastAttemptAt ?? one.createdAt)}</td>
  </tr>
`;

/** What was sent about an operation, and what receivers answered. */
export const webhooksTable = (
  deliveries: readonly ShownDelivery[],
  language: Language,
  label: string,
): View => {
  const texts = OPERATION[language];
  if (deliveries.length === 0) return html`<p>${texts.noWebhooks}</p>`;
  return html`
    <div class="overflow-auto" tabindex="0" role="region" aria-label=${label}>
      <table class="dense">
        <thead>
          <tr>
            <th scope="col">${texts.event}</th>
            <th scope="col">${texts.to}</th>
            <th scope="col">${texts.delivery}</th>
            <th scope="col" class="number">${texts.attempts}</th>
            <th scope="col">${texts.answer}</th>
            <th scope="col">${texts.at}</th>
          </tr>
        </thead>
        <tbody>
          ${deliveries.map((one) => row(one, language))}
        </tbody>
      </table>
    </div>
  `;
};
