import type { SecondDecisionName } from '../../../../application/publication/description/confirmation-schema.ts';
import type { FourEyes } from '../../../../domain/fund/four-eyes.ts';
import type { Evidence } from '../../../../domain/shared/two-people.ts';
import { amount } from '../../format.ts';
import { inLanguages } from '../../language.ts';
import type { Both } from '../../language.ts';
import { texts as decisions } from '../decisions/texts.ts';

export const texts = inLanguages({
  lead: [
    'Decisões que só valem depois que outra pessoa as confirmar.',
    'Decisions that count only once another person has confirmed them.',
  ],
  nothing: ['Nada espera por outra pessoa.', 'Nothing awaits another person.'],
  whatComes: [
    'Aparece aqui o que alguém decidiu e a regra do fundo manda outra pessoa confirmar.',
    'What somebody decided comes here, where the rule of its fund has another person confirm it.',
  ],
  link: ['Decisões à espera de outra pessoa', 'Decisions that await another person'],
  more: (count: string) => [
    `Mais ${count} não aparecem aqui: escolha um fundo.`,
    `${count} more are not shown: choose a fund.`,
  ],
  chooseAll: ['Escolher todas', 'Choose all'],
  chosen: (id: string) => [`Escolher ${id}`, `Choose ${id}`],
  contents: ['Conteúdo', 'Contents'],
  by: ['Quem decidiu', 'Decided by'],
  id: ['Identificador', 'Id'],
  rule: ['Regra do fundo', "The fund's rule"],
  evidences: {
    'signed-in': ['duas pessoas com sessão', 'two people who are signed in'],
    stated: ['dois nomes declarados', 'two names, as they are stated'],
  } satisfies Record<Evidence, Both>,
  seconds: {
    confirm: ['Confirmar', 'Confirm'],
    withdraw: ['Retirar', 'Withdraw'],
  } satisfies Record<SecondDecisionName, Both>,
  recordedAs: (name: string) => [
    `Fica registrado em nome de ${name}.`,
    `It is recorded in the name of ${name}.`,
  ],
  nothingChosen: ['Escolha ao menos uma decisão.', 'Choose at least one decision.'],
});

export const ruleText = ({ decisions: covered, evidence }: FourEyes): string => {
  if (covered.length === 0) return '–';
  const named = covered.map(({ decision, from }) => `${decisions.decide[decision]} ≥ ${amount(from)}`);
  return `${named.join(', ')} (${texts.evidences[evidence]})`;
};
