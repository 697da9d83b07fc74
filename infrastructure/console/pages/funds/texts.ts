import { inLanguages } from '../../language.ts';

export const texts = inLanguages({
  title: ['Fundos', 'Funds'],
  intro: [
    'Os fundos a que uma aplicação está vinculada e os que têm nome. O nome aparece em todas as páginas e listas, ao lado do identificador; integradores veem apenas o identificador.',
    'The funds that an application is linked to, and those that have a name. The name is shown on every page and in every list, beside the id; integrators see the id alone.',
  ],
  none: ['Não há fundos.', 'There is no fund.'],
  whatComes: [
    'Um fundo aparece aqui quando um cliente é criado para ele: receivables client create.',
    'A fund comes here once a client is created for it: receivables client create.',
  ],
  name: ['Nome', 'Name'],
  nameOf: (id: string) => [`Nome do fundo ${id}`, `Name of the fund ${id}`],
  give: ['Nomear', 'Name it'],
  rule: [
    'De 1 a 80 caracteres, sem caracteres de controle ou marcas de direção, sem espaço no início ou no fim, e que não pareça um identificador. Dois fundos não têm o mesmo nome, nem em maiúsculas e minúsculas diferentes.',
    '1 to 80 characters, without control characters or marks of direction, without a blank at either end, and nothing that looks like an id. No two funds have the same name, in upper or lower case.',
  ],
  invalid: ['Este nome não é aceito: veja a regra abaixo.', 'This name is not accepted: see the rule below.'],
  taken: [
    'Outro fundo já tem este nome. Escolha outro.',
    'Another fund has this name already. Choose another one.',
  ],
  earlier: [
    'Processos de uma versão anterior ainda podem estar em execução. Quando não houver mais nenhum, execute `receivables upgrade finish`.',
    'Processes of an earlier release may still run. When none does any more, run `receivables upgrade finish`.',
  ],
  unknown: ['Não há fundo com este identificador.', 'There is no fund with this id.'],
  lead: [
    'Quais decisões de cada fundo precisam de duas pessoas. Uma regra que pede menos que a atual espera, ela mesma, por outra pessoa.',
    'Which decisions of each fund need two people. A rule that asks for less than the one in force awaits another person itself.',
  ],
  ruleTitle: ['Regra', 'Rule'],
  onePerson: ['Uma pessoa decide tudo.', 'One person decides everything.'],
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
  back: ['Voltar aos fundos', 'Back to the funds'],
});
