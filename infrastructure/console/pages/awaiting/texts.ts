import type { DecisionAnswer } from '../../../../application/administrator/answers.ts';
import type { AwaitingDecision } from '../../../../application/administrator/confirmations.ts';
import type { SecondDecisionName } from '../../../../application/publication/description/confirmation-schema.ts';
import type { Evidence } from '../../../../domain/shared/two-people.ts';
import type { InLanguages } from '../../language.ts';

const pt = {
  lead: 'Decisões que só valem depois que outra pessoa as confirmar.',
  nothing: 'Nada espera por outra pessoa.',
  whatComes: 'Aparece aqui o que alguém decidiu e a regra do fundo manda outra pessoa confirmar.',
  link: 'Decisões à espera de outra pessoa',
  more: (count: string) => `Mais ${count} não aparecem aqui: escolha um fundo.`,
  chooseAll: 'Escolher todas',
  chosen: (id: string) => `Escolher ${id}`,
  decision: 'Decisão',
  value: 'Valor',
  contents: 'Conteúdo',
  by: 'Quem decidiu',
  since: 'Desde',
  id: 'Identificador',
  decisions: {
    approve: 'Aprovar',
    reject: 'Rejeitar',
    sign_term: 'Assinar termo',
    disburse: 'Desembolsar',
    process_repurchase: 'Concluir recompra',
    four_eyes: 'Regra do fundo',
  } satisfies Record<AwaitingDecision['decision'], string>,
  evidences: { 'signed-in': 'duas pessoas com sessão', stated: 'dois nomes declarados' } satisfies Record<
    Evidence,
    string
  >,
  seconds: { confirm: 'Confirmar', withdraw: 'Retirar' } satisfies Record<SecondDecisionName, string>,
  recordedAs: (name: string) => `Fica registrado em nome de ${name}.`,
  nothingChosen: 'Escolha ao menos uma decisão.',
  results: 'Resultado',
  outcome: 'Resultado',
  reason: 'Situação',
  outcomes: {
    applied: 'Feito',
    already_applied: 'Já estava feito',
    awaiting_confirmation: 'À espera de outra pessoa',
    refused: 'Recusado',
  } satisfies Record<DecisionAnswer['outcome'], string>,
  resultOf: (done: number, refused: number) => `${done} feitas, ${refused} recusadas.`,
  back: 'Voltar à lista',
};

export const AWAITING_TEXTS: InLanguages<typeof pt> = {
  'pt-BR': pt,
  en: {
    lead: 'Decisions that count only once another person has confirmed them.',
    nothing: 'Nothing awaits another person.',
    whatComes: 'What somebody decided comes here, where the rule of its fund has another person confirm it.',
    link: 'Decisions that await another person',
    more: (count) => `${count} more are not shown: choose a fund.`,
    chooseAll: 'Choose all',
    chosen: (id) => `Choose ${id}`,
    decision: 'Decision',
    value: 'Value',
    contents: 'Contents',
    by: 'Decided by',
    since: 'Since',
    id: 'Id',
    decisions: {
      approve: 'Approve',
      reject: 'Reject',
      sign_term: 'Sign the term',
      disburse: 'Disburse',
      process_repurchase: 'Complete the repurchase',
      four_eyes: "The fund's rule",
    },
    evidences: { 'signed-in': 'two people who are signed in', stated: 'two names, as they are stated' },
    seconds: { confirm: 'Confirm', withdraw: 'Withdraw' },
    recordedAs: (name) => `It is recorded in the name of ${name}.`,
    nothingChosen: 'Choose at least one decision.',
    results: 'Result',
    outcome: 'Outcome',
    reason: 'Status',
    outcomes: {
      applied: 'Done',
      already_applied: 'Was done already',
      awaiting_confirmation: 'Awaits another person',
      refused: 'Refused',
    },
    resultOf: (done, refused) => `${done} done, ${refused} refused.`,
    back: 'Back to the list',
  },
};
