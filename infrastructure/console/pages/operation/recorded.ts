import { AMOUNT_FIELDS } from '../../../../application/event-codec/amount-fields.ts';
import { amount, count, date, exact, instant } from '../../format.ts';
import { tableView } from '../../html.ts';
import type { View, Column } from '../../html.ts';
import { either, spoken } from '../../language.ts';
import { EXITS, EXIT_STATUSES } from '../../../../domain/loan/exits.ts';
import { METHODS } from './event-text.ts';
import { fieldName, valueName } from './recorded-texts.ts';

type Fields = Readonly<Record<string, unknown>>;

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const INSTANT = /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/;
/** Fields that hold days and instants; others may hold texts of people that look like them. */
const OF_TIME = /(_at|date|_issued)$/;
/** The value of a credit, exact: not the name of a file, which is called so too. */
const CREDITED = 'credit.value';
const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const textOf = (name: string, value: unknown): string => {
  if (value === null || value === undefined || value === '') return '—';
  if (typeof value === 'boolean') return value ? either('sim', 'yes') : either('não', 'no');
  if (typeof value === 'number') return AMOUNT_FIELDS.has(name) ? amount(value) : count(value);
  return typeof value === 'string' ? writtenText(name, value) : JSON.stringify(value);
};

const writtenText = (name: string, value: string): string => {
  if (OF_TIME.test(name) && DAY.test(value)) return date(value);
  if (OF_TIME.test(name) && INSTANT.test(value)) return instant(value);
  if (name === 'daily_factor') return exact(value);
  if (name === CREDITED) return `R$ ${exact(value)}`;
  if (!ENUMERATED.has(name)) return value;
  const methods: Readonly<Record<string, string>> = METHODS;
  return exitText(value) ?? valueName(value) ?? (Object.hasOwn(methods, value) ? methods[value]! : value);
};

const exitText = (value: string): string | undefined => {
  const ways: Readonly<Record<string, { readonly name: Readonly<Record<'pt-BR' | 'en', string>> }>> = {
    ...EXITS,
    ...EXIT_STATUSES,
  };
  return Object.hasOwn(ways, value) ? ways[value]!.name[spoken()].toLowerCase() : undefined;
};

/** Fields whose texts are words of the service and not of those who wrote them. */
const ENUMERATED: ReadonlySet<string> = new Set([
  ...['payment_method', 'value_source', 'exit_basis', 'closing_event', 'status', 'sandbox_outcome', 'reason'],
]);

const listView = (name: string, list: readonly unknown[]): View => {
  if (!list.every(isFields)) return list.map((one) => textOf(name, one)).join(', ');
  const names = [...new Set(list.flatMap((one) => Object.keys(one)))];
  return tableView(
    { label: fieldName(name), dense: true },
    names.map((one): Column<Fields> => [fieldName(one), (row) => valueView(one, row[one])]),
    list,
  );
};

const valueView = (name: string, value: unknown): View => {
  if (Array.isArray(value)) return listView(name, value);
  if (!isFields(value)) return textOf(name, value);
  const parts = Object.entries(value).filter(([, one]) => one !== undefined);
  return parts.map(([key, one], i) => [
    i > 0 && ' · ',
    `${fieldName(key)}: `,
    valueView(name === 'credit' && key === 'value' ? CREDITED : key, one),
  ]);
};

export const recordedPairs = (payload: object): readonly (readonly [string, View])[] =>
  Object.entries(payload).map(([name, value]) => [fieldName(name), valueView(name, value)]);
