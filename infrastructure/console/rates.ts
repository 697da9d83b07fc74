import { annualRate, monthlyRate } from '../../domain/curve/annual-rate.ts';
import { percent } from './format.ts';
import type { InLanguages, Language } from './language.ts';

const TEXTS: InLanguages<(yearly: string, monthly: string) => string> = {
  'pt-BR': (yearly, monthly) => `${yearly} ao ano · ${monthly} ao mês`,
  en: (yearly, monthly) => `${yearly} a year · ${monthly} a month`,
};

/** Beyond any rate that says something there is none. */
const shown = (rate: string | null): string => (rate === null ? '—' : percent(Number(rate)));

/** The effective rates that a daily factor stands for. */
export const ratesOf = (dailyFactor: string): { readonly yearly: string; readonly monthly: string } => ({
  yearly: shown(annualRate(dailyFactor)),
  monthly: shown(monthlyRate(dailyFactor)),
});

/** 19,56% ao ano · 1,50% ao mês. */
export const ratesText = (dailyFactor: string, language: Language): string => {
  const { yearly, monthly } = ratesOf(dailyFactor);
  return TEXTS[language](yearly, monthly);
};

/** That of a year alone, as a column has it. */
export const yearlyRate = (dailyFactor: string): string => {
  const year = annualRate(dailyFactor);
  return year === null ? '—' : percent(Number(year));
};
