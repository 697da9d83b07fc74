import { annualRate, monthlyRate } from '../../domain/curve/annual-rate.ts';
import { percent } from './format.ts';
import type { InLanguages, Language } from './language.ts';

const TEXTS: InLanguages<{ readonly year: string; readonly month: string; readonly tooLarge: string }> = {
  'pt-BR': { year: 'ao ano', month: 'ao mês', tooLarge: 'maior que qualquer taxa que diga algo' },
  en: { year: 'a year', month: 'a month', tooLarge: 'larger than any rate that says something' },
};

/** The effective rates that a daily factor stands for: 19,56% ao ano · 1,50% ao mês. */
export const ratesText = (dailyFactor: string, language: Language): string => {
  const texts = TEXTS[language];
  const [year, month] = [annualRate(dailyFactor), monthlyRate(dailyFactor)];
  const parts = [
    year === null ? undefined : `${percent(Number(year))} ${texts.year}`,
    month === null ? undefined : `${percent(Number(month))} ${texts.month}`,
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? texts.tooLarge : parts.join(' · ');
};

/** That of a year alone, as a column has it. */
export const yearlyRate = (dailyFactor: string): string => {
  const year = annualRate(dailyFactor);
  return year === null ? '—' : percent(Number(year));
};
