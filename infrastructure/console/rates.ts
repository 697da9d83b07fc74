import { annualRate, monthlyRate } from '../../domain/curve/annual-rate.ts';
import { percent } from './format.ts';
import { inLanguages } from './language.ts';

const texts = inLanguages({
  both: (yearly: string, monthly: string) => [
    `${yearly} ao ano · ${monthly} ao mês`,
    `${yearly} a year · ${monthly} a month`,
  ],
});

/** Beyond any rate that says something there is none. */
const shown = (rate: string | null): string => (rate === null ? '—' : percent(Number(rate)));

/** The effective rate of a year that a daily factor stands for, as a column has it. */
export const yearlyRate = (dailyFactor: string): string => shown(annualRate(dailyFactor));

/** 19,56% ao ano · 1,50% ao mês. */
export const ratesText = (dailyFactor: string): string =>
  texts.both(yearlyRate(dailyFactor), shown(monthlyRate(dailyFactor)));
