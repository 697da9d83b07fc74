import type { ExplainedPrice } from '../../../../application/audit/explained-price.ts';
import { EXITS } from '../../../../domain/loan/exits.ts';
import type { LoanEvent } from '../../../../domain/loan/index.ts';
import { amount, count, date, exact } from '../../format.ts';
import { either, spoken } from '../../language.ts';
import type { CarriedAmount, ExplainedLine } from '../../../../domain/curve/explained-value.ts';
import { html, tableView } from '../../html.ts';
import type { View } from '../../html.ts';
import { priceText } from '../../../presenting/explained-price.ts';
import { words } from '../words.ts';
import { capital } from './recorded-texts.ts';
import { texts } from './texts.ts';

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
