import type { InLanguages } from '../../language.ts';

const pt = {
  lead: 'Quais decisões de cada fundo precisam de duas pessoas. Uma regra que pede menos que a atual espera, ela mesma, por outra pessoa.',
  rule: 'Regra',
  none: 'Uma pessoa decide tudo.',
  change: 'Mudar a regra',
  from: (decision: string) => `${decision}: duas pessoas a partir de R$`,
  fromHelp: 'Por operação, como 50.000,00; 0,00 para todas; vazio: uma pessoa basta.',
  evidence: 'O que prova que são duas',
  send: 'Gravar a regra',
  wrongAmount: 'Um valor é escrito como 50.000,00: ponto nos milhares, vírgula nos centavos.',
  notYet: 'Processos de uma versão anterior ainda podem estar em uso: termine a atualização primeiro.',
  outcomes: {
    applied: 'A regra vale a partir de agora.',
    already_applied: 'Esta já era a regra.',
    awaiting_confirmation: 'A regra pede menos que a atual: espera pela confirmação de outra pessoa.',
  },
  awaiting: 'À espera de outra pessoa',
  back: 'Voltar aos fundos',
};

export const RULES: InLanguages<typeof pt> = {
  'pt-BR': pt,
  en: {
    lead: 'Which decisions of each fund need two people. A rule that asks for less than the one in force awaits another person itself.',
    rule: 'Rule',
    none: 'One person decides everything.',
    change: 'Change the rule',
    from: (decision) => `${decision}: two people from R$`,
    fromHelp: 'For each operation, such as 50,000.00; 0.00 for all; empty: one person is enough.',
    evidence: 'What proves that they are two',
    send: 'Set the rule',
    wrongAmount: 'An amount is written as 50,000.00: a comma between thousands, a point before the cents.',
    notYet: 'Processes of an earlier release may still run: finish the upgrade first.',
    outcomes: {
      applied: 'The rule is in force from now on.',
      already_applied: 'This was the rule already.',
      awaiting_confirmation:
        'The rule asks for less than the one in force: it awaits the confirmation of another person.',
    },
    awaiting: 'Awaiting another person',
    back: 'Back to the funds',
  },
};
