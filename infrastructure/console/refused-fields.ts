import { amount, date, exact } from './format.ts';
import { speakingIn } from './language.ts';
import type { InLanguages, Language } from './language.ts';
import { fieldLabel } from './pages/operation/recorded.ts';

interface Rule {
  /** As the rule says it; `tests/infrastructure/console/refusals.test.ts` asks the rules themselves. */
  readonly pattern: RegExp;
  readonly says: InLanguages<(...found: readonly string[]) => string>;
}

/** 950.00: R$ 950,00. */
const reais = (text = ''): string => amount(Number(text.replace('.', '')));
const day = (text = ''): string => date(text);
const label = (field = '', language: Language): string => fieldLabel(field, language);

const RULES: readonly Rule[] = [
  {
    pattern: /^(\w+) (\S+) comes before the issue of the operation; send (\S+) or a later date$/,
    says: {
      'pt-BR': (field, given, first) =>
        `${label(field, 'pt-BR')}: ${day(given)} vem antes da emissão da operação. Informe ${day(first)} ou uma data posterior.`,
      en: (field, given, first) =>
        `${label(field, 'en')}: ${day(given)} comes before the issue of the operation. Give ${day(first)} or a later day.`,
    },
  },
  {
    pattern: /^(\w+) is (-?\d+\.\d\d); send an amount above zero$/,
    says: {
      'pt-BR': (field, given) =>
        `${label(field, 'pt-BR')}: ${reais(given)} não é aceito. Informe um valor acima de zero.`,
      en: (field, given) =>
        `${label(field, 'en')}: ${reais(given)} is not accepted. Give an amount above zero.`,
    },
  },
  {
    pattern: /^the disbursed value was given as (\S+) and confirmed as (\S+); give the same amount twice$/,
    says: {
      'pt-BR': (given, again) =>
        `Valor desembolsado: ${reais(given)} da primeira vez e ${reais(again)} da segunda. Informe o mesmo valor duas vezes.`,
      en: (given, again) =>
        `Disbursed value: ${reais(given)} the first time and ${reais(again)} the second. Give the same amount twice.`,
    },
  },
  {
    pattern: /^the disbursed value (\S+) is more than (\S+) % away from the acquisition value (\S+);/,
    says: {
      'pt-BR': (given, share = '', acquisition) =>
        `Valor desembolsado: ${reais(given)} fica a mais de ${exact(share)}% do valor de aquisição, ${reais(acquisition)}. Se está certo, informe-o mais uma vez.`,
      en: (given, share = '', acquisition) =>
        `Disbursed value: ${reais(given)} is more than ${exact(share)}% away from the acquisition value, ${reais(acquisition)}. If it is right, give it once more.`,
    },
  },
  {
    pattern: /^(\d+) applications have an operation (\S+): name one of/,
    says: {
      'pt-BR': (many, code) => `${many} aplicações têm uma operação ${code}: escolha a aplicação.`,
      en: (many, code) => `${many} applications have an operation ${code}: choose the application.`,
    },
  },
  {
    pattern: /^webhook \S+ is paused: resume it first$/,
    says: {
      'pt-BR': () => 'O webhook está pausado: sua aplicação precisa retomá-lo antes de qualquer envio.',
      en: () => 'The webhook is paused: its application has to resume it before anything is sent.',
    },
  },
];

/** What a rule refuses, with the labels of the pages; undefined for a rule that no page leads to. */
export const refusedField = (message: string): InLanguages<string> | undefined => {
  for (const { pattern, says } of RULES) {
    const match = pattern.exec(message);
    if (!match) continue;
    const [, ...found] = match;
    const saidIn = (language: Language): string => speakingIn(language, () => says[language](...found));
    return { 'pt-BR': saidIn('pt-BR'), en: saidIn('en') };
  }
  return undefined;
};
