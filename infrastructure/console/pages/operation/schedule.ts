import { scheduledAt } from '../../../../domain/installment/installment.ts';
import type { Installment, ScheduledInstallment } from '../../../../domain/installment/installment.ts';
import { outstandingAtDue } from '../../../../domain/loan/payments.ts';
import { hasEnded } from '../../../../domain/loan/statuses.ts';
import { installmentsOf } from '../../../../domain/loan/state.ts';
import type { LoanState, LoanEvent } from '../../../../domain/loan/index.ts';
import { badge, html, section, pictureOf, tableView } from '../../html.ts';
import type { Meaning, View } from '../../html.ts';
import { amount, date, count, exact } from '../../format.ts';
import { words } from '../words.ts';
import { METHODS } from './event-text.ts';
import { texts } from './texts.ts';
import type { ExplainedPrice } from '../../../../application/audit/explained-price.ts';
import { EXITS } from '../../../../domain/loan/exits.ts';
import { either, spoken } from '../../language.ts';
import type { CarriedAmount, ExplainedLine } from '../../../../domain/curve/explained-value.ts';
import { priceText } from '../../../presenting/explained-price.ts';
import { capital } from './recorded-texts.ts';

/** `scheduled`: before the operation is active. `gone`: it left the fund while the installment was open. */
export type ShownStatus = Installment['status'] | 'gone' | 'scheduled';

interface ShownInstallment extends ScheduledInstallment {
  readonly shown: ShownStatus;
  /** In cents; what it owes on its due date, nothing once it is closed or gone. */
  readonly owed: number;
  readonly paid?: Extract<Installment, { readonly settledAt: unknown }>;
}

const shownOf = (one: Installment, ended: boolean, dailyFactor: string): ShownInstallment => {
  if ('settledAt' in one) return { ...one, shown: one.status, owed: 0, paid: one };
  if (ended) return { ...one, shown: 'gone', owed: 0 };
  return { ...one, shown: one.status, owed: outstandingAtDue(one, dailyFactor) };
};

export const shownInstallments = (state: LoanState): readonly ShownInstallment[] => {
  if (!('schedule' in state)) return [];
  const { dailyFactor } = state.pricing;
  if ('changed' in state)
    return installmentsOf(state).map((one) => shownOf(one, hasEnded(state.status), dailyFactor));
  const shown = state.status === 'rejected' ? 'gone' : 'scheduled';
  return state.schedule.codes.map((_, index) => ({ ...scheduledAt(state.schedule, index), shown, owed: 0 }));
};

const SERIES = [
  { meaning: 'paid', of: ['settled'] },
  { meaning: 'prepaid', of: ['prepaid'] },
  { meaning: 'overdue', of: ['overdue'] },
  { meaning: 'open', of: ['pending', 'scheduled'] },
  { meaning: 'gone', of: ['gone'] },
] as const satisfies readonly { readonly meaning: string; readonly of: readonly ShownStatus[] }[];

const heightOf = ({ shown, faceValue, owed, paid }: ShownInstallment): number => {
  if (paid?.status === 'settled') return paid.settledValue;
  return shown === 'pending' || shown === 'overdue' ? owed : faceValue;
};

const pictureOfSchedule = (installments: readonly ShownInstallment[]): View => {
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
      stacked: true,
      unit: 'cents',
      labels: installments.map(({ dueDate }) => date(dueDate)),
      series,
    },
    texts.scheduleSays(count('settled', 'prepaid'), count('overdue'), count('pending', 'scheduled')),
  );
};

const MEANINGS: Readonly<Record<ShownStatus, Meaning>> = {
  settled: 'good',
  prepaid: 'good',
  pending: 'waits',
  overdue: 'bad',
  scheduled: 'quiet',
  gone: 'quiet',
};

const SHORT = 12;

export const scheduleView = (state: LoanState): View => {
  const installments = shownInstallments(state);
  if (installments.length === 0) return null;
  return section(
    'schedule-title',
    words.installments,
    html`${pictureOfSchedule(installments)}
      <details open=${installments.length <= SHORT}>
        <summary>${texts.scheduleTable}</summary>
        ${tableView(
          { titledBy: 'schedule-title' },
          [
            [words.installment, ({ code }) => code, 'code'],
            [texts.due, ({ dueDate }) => date(dueDate), 'date'],
            [words.faceValue, ({ faceValue }) => amount(faceValue), 'number'],
            [texts.status, ({ shown }) => badge(MEANINGS[shown], texts.states[shown])],
            [texts.owed, ({ owed }) => owed > 0 && amount(owed), 'number'],
            [texts.paidOn, ({ paid }) => paid && date(paid.settledAt), 'date'],
            [
              texts.paidValue,
              ({ paid }) => paid?.status === 'settled' && amount(paid.settledValue),
              'number',
            ],
            [texts.method, ({ paid }) => paid && METHODS[paid.paymentMethod]],
          ],
          installments,
        )}
      </details>`,
  );
};

interface Part {
  readonly name: string;
  readonly carried: CarriedAmount;
  readonly line: ExplainedLine | undefined;
}

const partsOf = (line: ExplainedLine, credit: string): readonly Part[] =>
  [line.face, ...line.credits].map((carried, i) => ({
    name: i === 0 ? line.installmentCode : `− ${credit}`,
    carried,
    line: i === line.credits.length ? line : undefined,
  }));

export const linesView = (lines: readonly ExplainedLine[]): View => {
  if (lines.length === 0) return null;
  // Exact numbers keep all their digits: the copy of a cell can be checked by a calculator.
  return tableView(
    { label: texts.lineByLine, dense: true },
    [
      [words.installment, ({ name }) => name, 'code'],
      [texts.date, ({ carried }) => date(carried.date)],
      [texts.inReais, ({ carried }) => exact(carried.amount), 'number'],
      [texts.days, ({ carried }) => count(carried.days), 'number'],
      [texts.power, ({ carried }) => exact(carried.factor), 'number'],
      [texts.carried, ({ carried }) => exact(carried.carried), 'number'],
      [texts.running, ({ line }) => line && exact(line.runningTotal), 'number'],
      [texts.rounded, ({ line }) => line && amount(line.roundedTotal), 'number'],
      [words.value, ({ line }) => line && amount(line.presentValue), 'number'],
    ],
    lines.flatMap((line) => partsOf(line, texts.credit)),
  );
};

export const priceView = (event: LoanEvent, price: ExplainedPrice): View => {
  const { title, steps } = priceText(event, price, {
    ...{ amount, exact, date, either },
    exit: (reason) => EXITS[reason].name[spoken()],
  });
  return html`
    <h3>${texts.price}</h3>
    <p>${capital(title)}</p>
    ${linesView(price.lines)}
    <ul>
      ${steps.map((step) => html`<li>${capital(step)}</li>`)}
    </ul>
  `;
};
