import type { Installment, ScheduledInstallment } from '../../../../domain/installment/installment.ts';
import { outstandingAtDue } from '../../../../domain/loan/payments.ts';
import type { LoanState } from '../../../../domain/loan/index.ts';
import { amount, date } from '../../format.ts';
import { html } from '../../html.ts';
import type { View } from '../../html.ts';
import type { Language } from '../../language.ts';
import { pictureOf } from '../../picture.ts';
import { METHODS } from './event-text.ts';
import { OPERATION } from './texts.ts';

/** `scheduled`: before the operation is active. `gone`: it left the fund while the installment was open. */
export type ShownStatus = Installment['status'] | 'gone' | 'scheduled';

export interface ShownInstallment extends ScheduledInstallment {
  readonly shown: ShownStatus;
  /** In cents; what it owes on its due date, nothing once it is closed or gone. */
  readonly owed: number;
  readonly paid?: Extract<Installment, { readonly settledAt: unknown }>;
}

const ENDED: ReadonlySet<LoanState['status']> = new Set([
  'repurchased',
  'reversed',
  'resolved',
  'renegotiated',
  'settled',
]);

const shownOf = (one: Installment, ended: boolean, dailyFactor: string): ShownInstallment => {
  if ('settledAt' in one) return { ...one, shown: one.status, owed: 0, paid: one };
  if (ended) return { ...one, shown: 'gone', owed: 0 };
  return { ...one, shown: one.status, owed: outstandingAtDue(one, dailyFactor) };
};

/** The installments of an operation in the order of its schedule; none where it does not exist. */
export const installmentsOf = (state: LoanState): readonly ShownInstallment[] => {
  if (!('schedule' in state)) return [];
  const { dailyFactor } = state.pricing;
  if ('installments' in state)
    return state.installments.map((one) => shownOf(one, ENDED.has(state.status), dailyFactor));
  const shown = state.status === 'rejected' ? 'gone' : 'scheduled';
  return state.schedule.map((one) => ({ ...one, shown, owed: 0 }));
};

const SERIES = [
  { meaning: 'paid', of: ['settled'] },
  { meaning: 'prepaid', of: ['prepaid'] },
  { meaning: 'overdue', of: ['overdue'] },
  { meaning: 'open', of: ['pending', 'scheduled'] },
  { meaning: 'gone', of: ['gone'] },
] as const satisfies readonly { readonly meaning: string; readonly of: readonly ShownStatus[] }[];

/** How high its bar is: what came in, what is owed, or what was planned. */
const heightOf = ({ shown, faceValue, owed, paid }: ShownInstallment): number => {
  if (paid?.status === 'settled') return paid.settledValue;
  return shown === 'pending' || shown === 'overdue' ? owed : faceValue;
};

const pictureOfSchedule = (installments: readonly ShownInstallment[], language: Language): View => {
  const texts = OPERATION[language];
  const count = (...wanted: readonly ShownStatus[]): number =>
    installments.filter(({ shown }) => wanted.includes(shown)).length;
  const series = SERIES.filter(({ of }) => count(...of) > 0).map(({ meaning, of }) => ({
    name: texts.states[of.find((one) => count(one) > 0)!],
    meaning,
    values: installments.map((one) =>
      (of as readonly ShownStatus[]).includes(one.shown) ? heightOf(one) : null,
    ),
  }));
  return pictureOf(
    {
      kind: 'bar',
      stacked: true,
      unit: 'cents',
      labels: installments.map(({ dueDate }) => date(dueDate)),
      series,
    },
    texts.scheduleSays(count('settled', 'prepaid'), count('overdue'), count('pending', 'scheduled')),
  );
};

const row = (one: ShownInstallment, language: Language): View => {
  const texts = OPERATION[language];
  const { paid } = one;
  return html`<tr>
    <td class="code">${one.code}</td>
    <td>${date(one.dueDate)}</td>
    <td class="number">${amount(one.faceValue)}</td>
    <td><span class=${`state ${one.shown}`}>${texts.states[one.shown]}</span></td>
    <td class="number">${one.owed > 0 && amount(one.owed)}</td>
    <td>${paid && date(paid.settledAt)}</td>
    <td class="number">${paid?.status === 'settled' && amount(paid.settledValue)}</td>
    <td>${paid && METHODS[language][paid.paymentMethod]}</td>
  </tr>`;
};

/** Up to so many lines the table is open. */
const SHORT = 12;

export const scheduleView = (state: LoanState, language: Language): View => {
  const texts = OPERATION[language];
  const installments = installmentsOf(state);
  if (installments.length === 0) return null;
  return html`
    <section aria-labelledby="schedule-title">
      <h2 id="schedule-title">${texts.schedule}</h2>
      ${pictureOfSchedule(installments, language)}
      <details open=${installments.length <= SHORT}>
        <summary>${texts.scheduleTable}</summary>
        <div class="overflow-auto" tabindex="0" role="region" aria-labelledby="schedule-title">
          <table>
            <thead>
              <tr>
                <th scope="col">${texts.installment}</th>
                <th scope="col">${texts.due}</th>
                <th scope="col" class="number">${texts.face}</th>
                <th scope="col">${texts.status}</th>
                <th scope="col" class="number">${texts.owed}</th>
                <th scope="col">${texts.paidOn}</th>
                <th scope="col" class="number">${texts.paidValue}</th>
                <th scope="col">${texts.method}</th>
              </tr>
            </thead>
            <tbody>
              ${installments.map((one) => row(one, language))}
            </tbody>
          </table>
        </div>
      </details>
    </section>
  `;
};
