import type { DecisionName } from '../../../../application/publication/description/decision-schema.ts';
import { amount, centsTyped, date, dayTyped, instant, statusName } from '../../format.ts';
import { html } from '../../html.ts';
import type { View, Column } from '../../html.ts';
import { spoken } from '../../language.ts';
import { EXITS } from '../../../../domain/loan/exits.ts';
import { words } from '../words.ts';
import type { Draft, DraftLine } from './draft.ts';
import { texts } from './texts.ts';
import { operatorOf } from '../../../../application/command-handling/actors.ts';
import type { StatusChange } from '../../../../application/administrator/answers.ts';

const exitOf = ({ found }: DraftLine) =>
  found && 'repurchase' in found.loan ? found.loan.repurchase : undefined;

/** What the fund is to get for these, in cents. */
export const exitSum = (lines: readonly DraftLine[]): number =>
  lines.reduce((sum, line) => sum + (exitOf(line)?.repurchaseValue ?? 0), 0);

export const exitValue = ({
  repurchaseValue,
  calculatedValue,
}: {
  readonly repurchaseValue: number;
  readonly calculatedValue: number;
}): View =>
  repurchaseValue === calculatedValue
    ? amount(repurchaseValue)
    : html`${amount(repurchaseValue)}<br /><small>${texts.calculated(amount(calculatedValue))}</small>`;

const exitColumns = (): readonly Column<DraftLine>[] => {
  const of = (write: (exit: NonNullable<ReturnType<typeof exitOf>>) => View) => (line: DraftLine) => {
    const exit = exitOf(line);
    return exit && write(exit);
  };
  return [
    [words.kind, of(({ reason }) => EXITS[reason].name[spoken()])],
    [texts.repurchaseValue, of((exit) => exitValue(exit)), 'number'],
    [texts.effectiveDate, of(({ effectiveDate }) => date(effectiveDate))],
  ];
};

/** Codes are unique within an application alone. */
export const applicationColumn = ({ lines }: Draft): readonly Column<DraftLine>[] =>
  new Set(lines.map(({ code }) => code)).size === lines.length
    ? []
    : [[words.application, ({ applicationId }) => html`<span class="code">${applicationId}</span>`]];

export const givenColumns = (decision: DecisionName): readonly Column<DraftLine>[] => {
  if (decision === 'process_repurchase') return exitColumns();
  if (decision !== 'disburse') return [];
  return [[words.issued, ({ found }) => found && date(found.loan.dateIssued)]];
};

export const decidedColumns = ({
  decision,
  date: day,
  language: typedIn,
}: Draft): readonly Column<DraftLine>[] => {
  if (decision === 'process_repurchase') return exitColumns();
  if (decision !== 'disburse') return [];
  const of = ({ value }: DraftLine): View => {
    const cents = centsTyped(value, typedIn);
    return cents === undefined ? value : amount(cents);
  };
  return [
    [texts.value, of, 'number'],
    [texts.date, () => date(dayTyped(day) ?? day)],
  ];
};

export const changedText = ({
  status,
  changes,
}: {
  readonly status: string;
  readonly changes: readonly StatusChange[];
}): string => {
  const told = changes.map(({ status: after, actor, at }) => {
    const by = operatorOf(actor) ?? (actor === 'administrator' ? texts.administrator : actor);
    return texts.change(statusName(after), by, instant(at));
  });
  return texts.changedMeanwhile(statusName(status), told.join('; '));
};
