import { isCalendarDate } from '../../domain/shared/calendar-date.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import { statusName as nameIn } from '../presenting/loan-columns.ts';
import { either, spoken } from './language.ts';
import type { Language } from './language.ts';
import { annualRate, monthlyRate } from '../../domain/curve/annual-rate.ts';

/** Amounts and counts in the language of the answer; days and times as both languages write them, day first, on 24 hours. */
const ZONE = 'America/Sao_Paulo';
const numbersIn = (locale: string) => ({
  amount: new Intl.NumberFormat(locale, { style: 'currency', currency: 'BRL' }),
  count: new Intl.NumberFormat(locale),
  seconds: new Intl.NumberFormat(locale, { maximumFractionDigits: 1 }),
  // A rate that is rounded to nothing has no sign.
  percent: new Intl.NumberFormat(locale, {
    style: 'percent',
    maximumFractionDigits: 2,
    signDisplay: 'negative',
  }),
});
const NUMBERS: Readonly<Record<Language, ReturnType<typeof numbersIn>>> = {
  'pt-BR': numbersIn('pt-BR'),
  en: numbersIn('en'),
};
const INSTANT = new Intl.DateTimeFormat('pt-BR', {
  timeZone: ZONE,
  day: '2-digit',
  month: '2-digit',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});

/** 123456 cents: R$ 1.234,56, in English R$1,234.56. */
export const amount = (cents: number, language = spoken()): string =>
  NUMBERS[language].amount.format(cents / 100);
/** A decimal text with all its digits, 0.9993: 0,9993, in English 0.9993. */
export const exact = (decimal: string): string => (spoken() === 'en' ? decimal : decimal.replace('.', ','));
export const count = (value: number): string => NUMBERS[spoken()].count.format(value);
export const percent = (share: number): string => NUMBERS[spoken()].percent.format(share);
/** 850.4 milliseconds: 850 ms; 9999.35: 10 s. */
export const duration = (milliseconds: number): string =>
  Math.round(milliseconds) < 1_000
    ? `${Math.round(milliseconds)} ms`
    : `${NUMBERS[spoken()].seconds.format(milliseconds / 1_000)} s`;
export const date = (day: string): string => day.slice(0, 10).split('-').reverse().join('/');
/** An ISO instant, on the clocks of São Paulo: 22/11/2026, 14:05:09. */
export const instant = (iso: string): string => INSTANT.format(new Date(iso));
export const instantOr = (none: string, iso: string | null): string => (iso === null ? none : instant(iso));
/** Days late, from and to. */
export const daysText = ({ from, to }: { readonly from: number; readonly to: number | null }): string =>
  to === null ? `${from}+` : `${from}–${to}`;

const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const;

/** How long it is since then, in its two largest units: 3 d 4 h. */
export const span = (since: string, now: string): string => {
  let left = Math.max(0, Math.floor((Date.parse(now) - Date.parse(since)) / 1_000));
  const parts = UNITS.map(([unit, seconds]) => {
    const value = Math.floor(left / seconds);
    left -= value * seconds;
    return { unit, value };
  });
  const largest = parts.findIndex(({ value }) => value > 0);
  if (largest < 0) return '0 s';
  return parts
    .slice(largest, largest + 2)
    .filter(({ value }) => value > 0)
    .map(({ unit, value }) => `${value} ${unit}`)
    .join(' ');
};

/** The marks between thousands and before cents. Where both could be meant, three digits are thousands and never a fraction. */
const TYPED: Readonly<Record<Language, { readonly group: string; readonly pattern: RegExp }>> = {
  'pt-BR': { group: '.', pattern: /^(?:R\$)?\s*(\d{1,3}(?:\.\d{3}){0,3}|\d{1,12})(?:,(\d{1,2}))?$/ },
  en: { group: ',', pattern: /^(?:R\$)?\s*(\d{1,3}(?:,\d{3}){0,3}|\d{1,12})(?:\.(\d{1,2}))?$/ },
};

/** By which scripts read what is typed. */
export const typedRule = (): Readonly<Record<`data-${string}`, string>> => {
  const { group, pattern } = TYPED[spoken()];
  return { 'data-group': group, 'data-pattern': pattern.source };
};

/**
 * Cents of an amount as people type it, `1.234,56` or `R$ 1234,5`, in English `1,234.56`; undefined for anything else. Nothing that both
 * languages take means something else in the other one.
 */
export const centsTyped = (text: string, language = spoken()): number | undefined => {
  const { group, pattern } = TYPED[language];
  const [, whole, fraction = ''] = pattern.exec(text.trim()) ?? [];
  if (whole === undefined) return undefined;
  return Number(whole.replaceAll(group, '')) * 100 + Number(fraction.padEnd(2, '0') || 0);
};

/** As an amount is typed, without the sign of the currency. */
export const typedAmount = (cents: number, language = spoken()): string =>
  amount(cents, language).replace(/^[^\d-]+/, '');

/** What somebody who writes as the other language does has meant, written as this one does; undefined where that is nothing either. */
export const amountMeant = (text: string): string | undefined => {
  const cents = centsTyped(text, either('en', 'pt-BR'));
  return cents === undefined ? undefined : typedAmount(cents);
};

/** A day as people type it, `22/11/2026` or `2026-11-22`; undefined for what is none. */
export const dayTyped = (text: string): CalendarDate | undefined => {
  const [, day, month, year] = /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/.exec(text.trim()) ?? [];
  const iso =
    year === undefined ? text.trim() : `${year}-${month!.padStart(2, '0')}-${day!.padStart(2, '0')}`;
  return isCalendarDate(iso) ? iso : undefined;
};

export const typedDay = (text: string): string => (isCalendarDate(text) ? date(text) : text);

/** Hours behind UTC in São Paulo, in winter and in the summers that had one. */
const OFFSETS = [3, 2];

/** What people type of a moment, with a blank or a comma behind the day, or as ISO 8601 has it. */
const MOMENT = /^([\d/-]+)(?:T|,? +)(\d{1,2}:\d{2})(?::(\d{2}))?$/;

/**
 * The last millisecond of a moment, `20/06/2026 15:00` or `2026-06-20T15:00`, with seconds or without, on the clocks of São Paulo:
 * ISO 8601 UTC. Undefined for anything else.
 */
export const momentTyped = (text: string): string | undefined => {
  const [, typedAs = '', time = '', second = '59'] = MOMENT.exec(text.trim()) ?? [];
  const day = dayTyped(typedAs);
  if (day === undefined) return undefined;
  const minute = time.padStart(5, '0');
  const typed = Date.parse(`${day}T${minute}:${second}.999Z`);
  if (Number.isNaN(typed) || !new Date(typed).toISOString().startsWith(day)) return undefined;
  const shown = `${date(day)}, ${minute}:${second}`;
  for (const hours of OFFSETS) {
    const moment = new Date(typed + hours * 3_600_000).toISOString();
    if (instant(moment) === shown) return moment;
  }
  return undefined;
};

/** Beyond any rate that says something there is none. */
const shown = (rate: string | null): string => (rate === null ? '—' : percent(Number(rate)));

export const yearlyRate = (dailyFactor: string): string => shown(annualRate(dailyFactor));

/** 19,56% ao ano · 1,50% ao mês. */
export const ratesText = (dailyFactor: string): string =>
  `${yearlyRate(dailyFactor)} ${either('ao ano', 'a year')} · ${shown(monthlyRate(dailyFactor))} ${either('ao mês', 'a month')}`;

export const statusName = (status: string): string => nameIn(status, spoken());
