import { AMOUNT_FIELDS } from '../../../../application/event-codec/amount-fields.ts';
import { amount, count, date, exact, instant } from '../../format.ts';
import type { View } from '../../html.ts';
import type { Language } from '../../language.ts';
import { EXITS, EXIT_STATUSES } from '../../../../domain/loan/exits.ts';
import { METHODS } from './event-text.ts';
import { tableView } from '../../table.ts';
import type { Column } from '../../table.ts';
import { RECORDED } from './recorded-texts.ts';

type Fields = Readonly<Record<string, unknown>>;

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const INSTANT = /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/;
/** Fields that hold days and instants; others may hold texts of people that look like them. */
const OF_TIME = /(_at|date|_issued)$/;
/** The value of a credit, exact: not the name of a file, which is called so too. */
const CREDITED = 'credit.value';
const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The name of a stored field; the name itself where a newer version stored one that this page does not know. */
const fieldName = (name: string, language: Language): string => RECORDED[language].fields[name] ?? name;

/** The same, as it stands before a value. */
export const fieldLabel = (name: string, language: Language): string => {
  const text = fieldName(name, language);
  return text.charAt(0).toUpperCase() + text.slice(1);
};

const textOf = (name: string, value: unknown, language: Language): string => {
  const { none, yes, no } = RECORDED[language];
  if (value === null || value === undefined || value === '') return none;
  if (typeof value === 'boolean') return value ? yes : no;
  if (typeof value === 'number') return AMOUNT_FIELDS.has(name) ? amount(value) : count(value);
  return typeof value === 'string' ? writtenText(name, value, language) : JSON.stringify(value);
};

const writtenText = (name: string, value: string, language: Language): string => {
  if (OF_TIME.test(name) && DAY.test(value)) return date(value);
  if (OF_TIME.test(name) && INSTANT.test(value)) return instant(value);
  if (name === 'daily_factor') return exact(value);
  if (name === CREDITED) return `R$ ${exact(value)}`;
  const { values } = RECORDED[language];
  const known: Readonly<Record<string, string>> = { ...METHODS[language], ...values };
  return ENUMERATED.has(name) ? (exitText(value, language) ?? known[value] ?? value) : value;
};

/** Of a reason to leave the fund, or of the state that it leads to. */
const exitText = (value: string, language: Language): string | undefined => {
  const ways: Readonly<Record<string, { readonly name: Readonly<Record<Language, string>> }>> = {
    ...EXITS,
    ...EXIT_STATUSES,
  };
  return Object.hasOwn(ways, value) ? ways[value]!.name[language].toLowerCase() : undefined;
};

/** Fields whose texts are words of the service and not of those who wrote them. */
const ENUMERATED: ReadonlySet<string> = new Set([
  ...['payment_method', 'value_source', 'exit_basis', 'closing_event', 'status', 'sandbox_outcome', 'reason'],
]);

const listView = (name: string, list: readonly unknown[], language: Language): View => {
  if (!list.every(isFields)) return list.map((one) => textOf(name, one, language)).join(', ');
  const names = [...new Set(list.flatMap((one) => Object.keys(one)))];
  return tableView(
    { label: fieldName(name, language), dense: true },
    names.map((one): Column<Fields> => [
      fieldName(one, language),
      (row) => valueView(one, row[one], language),
    ]),
    list,
  );
};

const valueView = (name: string, value: unknown, language: Language): View => {
  if (Array.isArray(value)) return listView(name, value, language);
  if (!isFields(value)) return textOf(name, value, language);
  const parts = Object.entries(value).filter(([, one]) => one !== undefined);
  return parts.map(([key, one], i) => [
    i > 0 && ' · ',
    `${fieldName(key, language)}: `,
    valueView(name === 'credit' && key === 'value' ? CREDITED : key, one, language),
  ]);
};

/** The stored fields of an event, as people read them: amounts as amounts, days as days, names in the language of the page. */
export const recordedPairs = (payload: object, language: Language): readonly (readonly [string, View])[] =>
  Object.entries(payload).map(([name, value]) => [
    fieldName(name, language),
    valueView(name, value, language),
  ]);
