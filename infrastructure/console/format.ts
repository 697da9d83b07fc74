/** Amounts and dates as Brazil writes them, in either language of the console. */
const ZONE = 'America/Sao_Paulo';
const AMOUNT = new Intl.NumberFormat('pt-BR', { style: 'currency', currency: 'BRL' });
const COUNT = new Intl.NumberFormat('pt-BR');
const SECONDS = new Intl.NumberFormat('pt-BR', { maximumFractionDigits: 1 });
const PERCENT = new Intl.NumberFormat('pt-BR', { style: 'percent', maximumFractionDigits: 2 });
const INSTANT = new Intl.DateTimeFormat('pt-BR', {
  timeZone: ZONE,
  day: '2-digit',
  month: '2-digit',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});

/** 123456 cents: R$ 1.234,56. */
export const amount = (cents: number): string => AMOUNT.format(cents / 100);
/** A decimal text with all its digits, 0.9993: 0,9993. */
export const exact = (decimal: string): string => decimal.replace('.', ',');
export const count = (value: number): string => COUNT.format(value);
/** 0.25: 25%. */
export const percent = (share: number): string => PERCENT.format(share);
/** 850.4 milliseconds: 850 ms; 9999.35: 10 s. */
export const duration = (milliseconds: number): string =>
  Math.round(milliseconds) < 1_000
    ? `${Math.round(milliseconds)} ms`
    : `${SECONDS.format(milliseconds / 1_000)} s`;
/** 2026-11-22: 22/11/2026. */
export const date = (day: string): string => day.slice(0, 10).split('-').reverse().join('/');
/** An ISO instant, on the clocks of São Paulo: 22/11/2026, 14:05:09. */
export const instant = (iso: string): string => INSTANT.format(new Date(iso));

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

/** Cents of an amount as people type it, `1.234,56` or `R$ 1234,5`; undefined for anything else, such as `1,234.56`. */
export const centsTyped = (text: string): number | undefined => {
  const [, whole, fraction = ''] =
    /^(?:R\$)?\s*(\d{1,3}(?:\.\d{3})*|\d{1,12})(?:,(\d{1,2}))?$/.exec(text.trim()) ?? [];
  if (whole === undefined) return undefined;
  return Number(whole.replaceAll('.', '')) * 100 + Number(fraction.padEnd(2, '0') || 0);
};

/** Hours behind UTC in São Paulo, in winter and in the summers that had one. */
const OFFSETS = [3, 2];

/**
 * The last millisecond of a moment as a field for date and time gives it, `2026-06-20T15:00` or with seconds, on the clocks of
 * São Paulo: ISO 8601 UTC. Undefined for anything else.
 */
export const momentTyped = (text: string): string | undefined => {
  const [, day, minute, second = '59'] = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2})(?::(\d{2}))?$/.exec(text) ?? [];
  if (day === undefined) return undefined;
  const typed = Date.parse(`${day}T${minute}:${second}.999Z`);
  if (Number.isNaN(typed) || !new Date(typed).toISOString().startsWith(day)) return undefined;
  const shown = `${date(day)}, ${minute}:${second}`;
  for (const hours of OFFSETS) {
    const moment = new Date(typed + hours * 3_600_000).toISOString();
    if (instant(moment) === shown) return moment;
  }
  return undefined;
};
