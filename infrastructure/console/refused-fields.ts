import { amount, date, exact } from './format.ts';
import { either } from './language.ts';
import { fieldLabel } from './pages/operation/recorded-texts.ts';

interface Rule {
  /** As the rule says it; `tests/infrastructure/console/refusals.test.ts` asks the rules themselves. */
  readonly pattern: RegExp;
  readonly says: (...found: readonly string[]) => string;
}

/** 950.00: R$ 950,00. */
const reais = (text = ''): string => amount(Number(text.replace('.', '')));
const day = (text = ''): string => date(text);
const label = (field = ''): string => fieldLabel(field);

const RULES: readonly Rule[] = [
  {
    pattern: /^(\w+) (\S+) comes before the issue of the operation; send (\S+) or a later date$/,
    says: (field, given, first) =>
      either(
        `${label(field)}: ${day(given)} vem antes da emissão da operação. Informe ${day(first)} ou uma data posterior.`,
        `${label(field)}: ${day(given)} comes before the issue of the operation. Give ${day(first)} or a later day.`,
      ),
  },
  {
    pattern: /^(\w+) is (-?\d+\.\d\d); send an amount above zero$/,
    says: (field, given) =>
      either(
        `${label(field)}: ${reais(given)} não é aceito. Informe um valor acima de zero.`,
        `${label(field)}: ${reais(given)} is not accepted. Give an amount above zero.`,
      ),
  },
  {
    pattern: /^the disbursed value was given as (\S+) and confirmed as (\S+); give the same amount twice$/,
    says: (given, again) =>
      either(
        `Valor desembolsado: ${reais(given)} da primeira vez e ${reais(again)} da segunda. Informe o mesmo valor duas vezes.`,
        `Disbursed value: ${reais(given)} the first time and ${reais(again)} the second. Give the same amount twice.`,
      ),
  },
  {
    pattern: /^the disbursed value (\S+) is more than (\S+) % away from the acquisition value (\S+);/,
    says: (given, share = '', acquisition) =>
      either(
        `Valor desembolsado: ${reais(given)} fica a mais de ${exact(share)}% do valor de aquisição, ${reais(acquisition)}. Se está certo, informe-o mais uma vez.`,
        `Disbursed value: ${reais(given)} is more than ${exact(share)}% away from the acquisition value, ${reais(acquisition)}. If it is right, give it once more.`,
      ),
  },
  {
    pattern: /^(\d+) applications have an operation (\S+): name one of/,
    says: (many, code) =>
      either(
        `${many} aplicações têm uma operação ${code}: escolha a aplicação.`,
        `${many} applications have an operation ${code}: choose the application.`,
      ),
  },
  {
    pattern: /^webhook \S+ is paused: resume it first$/,
    says: () =>
      either(
        'O webhook está pausado: sua aplicação precisa retomá-lo antes de qualquer envio.',
        'The webhook is paused: its application has to resume it before anything is sent.',
      ),
  },
];

/** What a rule refuses, with the labels of the pages; undefined for a rule that no page leads to. */
export const refusedField = (message: string): string | undefined => {
  for (const { pattern, says } of RULES) {
    const match = pattern.exec(message);
    if (match) return says(...match.slice(1));
  }
  return undefined;
};
