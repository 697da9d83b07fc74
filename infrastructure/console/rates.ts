import { annualRate, monthlyRate } from '../../domain/curve/annual-rate.ts';
import { percent } from './format.ts';
import type { InLanguages, Language } from './language.ts';

const TEXTS: InLanguages<(yearly: string, monthly: string) => string> = {
  'pt-BR': (yearly, monthly) => `${yearly} ao ano · ${monthly} ao mês`,
  en: (yearly, monthly) => `${yearly} a year · ${monthly} a month`,
};

/** Beyond any rate that says something there is none. */
const shown = (rate: string | null): string => (rate === null ? '—' : percent(Number(rate)));

/** The effective rate of a year that a daily factor stands for, as a column has it. */
export const yearlyRate = (dailyFactor: string): string => shown(annualRate(dailyFactor));

/** 19,56% ao ano · 1,50% ao mês. */
export const ratesText = (dailyFactor: string, language: Language): string =>
  TEXTS[language](yearlyRate(dailyFactor), shown(monthlyRate(dailyFactor)));
