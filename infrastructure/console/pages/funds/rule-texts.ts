import { inLanguages } from '../../language.ts';

export const ruleTexts = inLanguages({
  lead: [
    'Quais decisões de cada fundo precisam de duas pessoas. Uma regra que pede menos que a atual espera, ela mesma, por outra pessoa.',
    'Which decisions of each fund need two people. A rule that asks for less than the one in force awaits another person itself.',
  ],
  rule: ['Regra', 'Rule'],
  none: ['Uma pessoa decide tudo.', 'One person decides everything.'],
  change: ['Mudar a regra', 'Change the rule'],
  from: (decision: string) => [`${decision}: duas pessoas a partir de R$`, `${decision}: two people from R$`],
  fromHelp: [
    'Por operação, como 50.000,00; 0,00 para todas; vazio: uma pessoa basta.',
    'For each operation, such as 50,000.00; 0.00 for all; empty: one person is enough.',
  ],
  evidence: ['O que prova que são duas', 'What proves that they are two'],
  send: ['Gravar a regra', 'Set the rule'],
  wrongAmount: [
    'Um valor é escrito como 50.000,00: ponto nos milhares, vírgula nos centavos.',
    'An amount is written as 50,000.00: a comma between thousands, a point before the cents.',
  ],
  notYet: [
    'Processos de uma versão anterior ainda podem estar em uso: termine a atualização primeiro.',
    'Processes of an earlier release may still run: finish the upgrade first.',
  ],
  outcomes: {
    applied: ['A regra vale a partir de agora.', 'The rule is in force from now on.'],
    already_applied: ['Esta já era a regra.', 'This was the rule already.'],
    awaiting_confirmation: [
      'A regra pede menos que a atual: espera pela confirmação de outra pessoa.',
      'The rule asks for less than the one in force: it awaits the confirmation of another person.',
    ],
  },
  awaiting: ['À espera de outra pessoa', 'Awaiting another person'],
  back: ['Voltar aos fundos', 'Back to the funds'],
});
