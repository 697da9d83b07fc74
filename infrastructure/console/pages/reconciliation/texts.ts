import type { Result } from '../../../../application/reconciliation/comparison.ts';
import type { StatementProblem } from '../../../../application/reconciliation/statements.ts';
import { inLanguages } from '../../language.ts';
import type { Both } from '../../language.ts';

type ProblemKind = StatementProblem['kind'];

export const texts = inLanguages({
  intro: [
    'Compara o extrato do custodiante com os pagamentos notificados de um fundo, como faz `receivables reconcile`. O arquivo fica só na memória, e nada é alterado.',
    "Compares a custodian's statement with the payments that were notified for a fund, as `receivables reconcile` does. The file stays in memory, and nothing is changed.",
  ],
  file: ['Extrato (CSV, até 16 MiB)', 'Statement (CSV, up to 16 MiB)'],
  read: ['Ler o arquivo', 'Read the file'],
  another: ['Outro arquivo', 'Another file'],
  mapping: ['Como o extrato está escrito', 'How the statement is written'],
  preview: ['Suas primeiras linhas', 'Its first lines'],
  noRecord: ['Nenhuma linha pode ser lida deste modo.', 'No line can be read in this way.'],
  date: ['Coluna da data', 'Date column'],
  amount: ['Coluna do valor', 'Amount column'],
  reference: ['Coluna da referência', 'Reference column'],
  none: ['nenhuma', 'none'],
  column: ['coluna', 'column'],
  delimiter: ['Entre as colunas', 'Between columns'],
  tab: ['tabulação', 'tab'],
  decimal: ['Antes dos centavos', 'Before the cents'],
  dateFormat: ['Datas', 'Dates'],
  encoding: ['Codificação', 'Encoding'],
  skip: ['Linhas antes da tabela', 'Lines before the table'],
  header: ['A primeira linha traz títulos', 'The first line holds titles'],
  again: ['Ler deste modo', 'Read it like this'],
  comparison: ['O que comparar', 'What to compare'],
  from: ['De', 'From'],
  to: ['Até', 'To'],
  daysOfFile: [
    'Vazias, são os dias do primeiro e do último movimento do arquivo.',
    'Left empty, they are the days of the first and the last movement of the file.',
  ],
  window: ['Máximo de dias entre as duas datas', 'Most days between the two dates'],
  tolerance: ['Máximo entre os valores (R$)', 'Most between the amounts (R$)'],
  requireReference: ['Nunca casar só por valor e data', 'Never match by amount and date alone'],
  compare: ['Comparar', 'Compare'],
  clean: ['Tudo confere.', 'Everything matches.'],
  notClean: ['O extrato e as notificações diferem.', 'The statement and the notifications differ.'],
  statement: ['Extrato', 'Statement'],
  outside: ['Linhas fora do período', 'Lines outside the period'],
  value: ['Valor', 'Amount'],
  kinds: {
    matched: ['Conferem', 'Matched'],
    amount_differs: ['Valores que diferem', 'Amounts that differ'],
    missing_in_statement: ['Notificados que faltam no extrato', 'Notified, and missing in the statement'],
    missing_in_notifications: ['No extrato e nunca notificados', 'In the statement, and never notified'],
    duplicate_in_statement: ['Repetidos no extrato', 'Twice in the statement'],
    duplicate_in_notifications: ['Notificados duas vezes', 'Notified twice'],
  } satisfies Record<Result, Both>,
  totals: ['Por dia', 'By day'],
  day: ['Dia', 'Day'],
  payments: {
    settlement: ['Liquidação', 'Settlement'],
    prepayment: ['Antecipação', 'Prepayment'],
    repurchase: ['Recompra', 'Repurchase'],
    unidentified: ['Não identificado', 'Unidentified'],
  },
  payment: ['Pagamento', 'Payment'],
  notifiedOn: ['Notificado para', 'Notified for'],
  line: ['Linha', 'Line'],
  statementOn: ['No extrato', 'In the statement'],
  ref: ['Referência', 'Reference'],
  rule: ['Regra', 'Matched by'],
  more: ['Mais destes', 'More of these'],
  exportCsv: ['Exportar CSV', 'Export as CSV'],
  exportJson: ['Exportar JSON', 'Export as JSON'],
  gone: [
    'O arquivo não está mais guardado: ficam os 4 últimos de cada pessoa, e 128 MiB de todas juntas, dos quais saem primeiro os que há mais tempo não são usados. Envie-o de novo.',
    'The file is no longer kept: each person has the last 4, and all people together 128 MiB, of which the files that were not used for longest go first. Send it again.',
  ],
  badFund: [
    'Fundo: escolha um da lista; nenhuma aplicação está ligada a este, e ele não tem operação.',
    'Fund: choose one of the list; no application is linked to this one, and it holds no operation.',
  ],
  badPeriod: [
    'Período: os dois dias precisam existir, escritos como 30/06/2026, e o primeiro não pode vir depois do último.',
    'Period: both days have to exist, written as 30/06/2026, and the first must not come after the last.',
  ],
  badNumbers: [
    'Dias entre as datas: 0 a 60. Valor de diferença: 0,00 a 1.000,00. Linhas antes da tabela: 0 a 1000.',
    'Days between: 0 to 60. Amount between: 0.00 to 1,000.00. Lines before the table: 0 to 1000.',
  ],
  problems: {
    date: ['não é uma data escrita como se escolheu', 'is not a date written as chosen'],
    amount: ['não é um valor escrito como se escolheu', 'is not an amount written as chosen'],
    encoding: [
      'não é texto desta codificação: escolha outra',
      'it is not text of this encoding: choose another one',
    ],
    byte_order: [
      'é UTF-16 com o byte mais alto primeiro, que não é lido aqui: salve o arquivo como UTF-8',
      'it is UTF-16 with the higher byte first, which is not read here: save the file as UTF-8',
    ],
    width: [
      'a linha tem outro número de colunas que a anterior',
      'it has another number of columns than the line before',
    ],
    quotes: [
      'uma aspa abre e não fecha, ou está dentro de um valor',
      'a quotation mark is opened and not closed, or stands inside a value',
    ],
    too_long: ['a linha é longa demais para um extrato', 'the line is too long to be one of a statement'],
    empty: ['o arquivo não traz nenhum movimento', 'the file holds no movement'],
    no_column: ['não há essa coluna: escolha outra', 'there is no such column: choose another one'],
    same_titles: ['várias colunas têm este título', 'several columns have this title'],
    other: ['o arquivo não pode ser lido como extrato', 'the file cannot be read as a statement'],
  } satisfies Record<ProblemKind, Both>,
});

export const problemText = ({ kind, line, column, text }: StatementProblem): string => {
  const places = [
    ...(line === undefined ? [] : [`${texts.line} ${line}`]),
    ...(column === undefined ? [] : [`${texts.column} ${column}`]),
  ].join(', ');
  const said = `${text === undefined ? '' : `“${text}” `}${texts.problems[kind]}.`;
  return places === '' ? said : `${places}: ${said}`;
};
