import type { DecisionAnswer } from '../../../../application/administrator/answers.ts';
import type { DecisionName } from '../../../../application/publication/description/decision-schema.ts';
import { inLanguages } from '../../language.ts';
import type { Both } from '../../language.ts';

export const texts = inLanguages({
  decide: {
    approve: ['Aprovar', 'Approve'],
    reject: ['Rejeitar', 'Reject'],
    sign_term: ['Assinar termo', 'Sign term'],
    disburse: ['Desembolsar', 'Disburse'],
    process_repurchase: ['Concluir recompra', 'Complete repurchase'],
  } satisfies Record<DecisionName, Both>,
  chooseAll: ['Escolher todas desta página', 'Choose all of this page'],
  chosen: (code: string) => [`Escolher ${code}`, `Choose ${code}`],
  nothing: ['Nada espera por uma decisão aqui.', 'Nothing waits for a decision here.'],
  nothingChosen: [
    'Nenhuma operação foi escolhida. Volte à lista e marque ao menos uma.',
    'No operation was chosen. Go back to the list and tick at least one.',
  ],
  keys: ['Teclas', 'Keys'],
  keyHelp: [
    'n: próxima da lista · j e k: próxima e anterior · espaço: escolher · o: abrir · a: aprovar · r: rejeitar · s: assinar · d: desembolsar · c: concluir',
    'n: next of the list · j and k: next and previous · space: choose · o: open · a: approve · r: reject · s: sign · d: disburse · c: complete',
  ],
  now: (count: string) => [
    `Ao todo, agora ${count === '1' ? 'espera 1 operação' : `esperam ${count} operações`}.`,
    `In all, ${count === '1' ? '1 operation waits' : `${count} operations wait`} now.`,
  ],
  preview: ['Conferir antes de decidir', 'Check before you decide'],
  previewOf: (decision: string, count: number, value: string) => [
    `${decision}: ${count} ${count === 1 ? 'operação' : 'operações'}, valor de aquisição ${value}.`,
    `${decision}: ${count} ${count === 1 ? 'operation' : 'operations'}, acquisition value ${value}.`,
  ],
  exitsOf: (decision: string, count: number, value: string, acquisition: string) => [
    `${decision}: ${count} ${count === 1 ? 'operação' : 'operações'}, valor da recompra ${value} (valor de aquisição ${acquisition}).`,
    `${decision}: ${count} ${count === 1 ? 'operation' : 'operations'}, repurchase value ${value} (acquisition value ${acquisition}).`,
  ],
  others: (count: number) => [
    `${count} das escolhidas não ${count === 1 ? 'espera' : 'esperam'} por esta decisão e ficam como estão.`,
    `${count} of the chosen ones ${count === 1 ? 'does' : 'do'} not wait for this decision and stay${count === 1 ? 's' : ''} as ${count === 1 ? 'it is' : 'they are'}.`,
  ],
  confirm: ['Confirmar', 'Confirm'],
  reason: (number: number) => [`Motivo ${number}`, `Reason ${number}`],
  reasonCode: ['Código', 'Code'],
  reasonMessage: ['Mensagem', 'Message'],
  reasonHelp: [
    'O cedente lê o código e a mensagem. Sem dados pessoais.',
    'The originator reads the code and the message. No personal data.',
  ],
  date: ['Data do desembolso', 'Day of the disbursement'],
  value: ['Valor desembolsado', 'Disbursed value'],
  disbursedOf: (code: string) => [`Valor desembolsado de ${code}`, `Disbursed value of ${code}`],
  note: [
    'Observação para a auditoria, sem dados pessoais (opcional)',
    'Note for the audit, without personal data (optional)',
  ],
  recordedAs: (operator: string) => [
    `A decisão fica registrada em nome de ${operator}.`,
    `The decision is recorded in the name of ${operator}.`,
  ],
  awaitingOf: (count: number) => [
    `${count} à espera da confirmação de outra pessoa.`,
    `${count} ${count === 1 ? 'awaits' : 'await'} the confirmation of another person.`,
  ],
  outcomes: {
    applied: ['Feita', 'Done'],
    already_applied: ['Já estava feita', 'Was done already'],
    awaiting_confirmation: ['À espera de outra pessoa', 'Awaits another person'],
    refused: ['Recusada', 'Refused'],
    repeated: [
      'Feita: sua própria decisão, já confirmada neste formulário',
      'Done: your own decision, confirmed with this form before',
    ],
  } satisfies Record<DecisionAnswer['outcome'] | 'repeated', Both>,
  wrongAmount: (code: string, meant: string | undefined) => [
    `O valor de ${code} deve ser escrito como 1.234,56: ponto nos milhares, vírgula nos centavos${meant === undefined ? '' : ` (aqui, ${meant})`}.`,
    `The value of ${code} has to be written like 1,234.56: a comma between thousands, a point before the cents${meant === undefined ? '' : ` (here, ${meant})`}.`,
  ],
  notAboveZero: (code: string) => [
    `O valor de ${code} deve ser maior que zero.`,
    `The value of ${code} has to be above zero.`,
  ],
  farOff: (code: string, acquisitionValue: string, tolerance: string) => [
    `O valor de ${code} difere em mais de ${tolerance.replace('.', ',')}% do valor de aquisição, ${acquisitionValue}. Se estiver certo, digite-o mais uma vez.`,
    `The value of ${code} is more than ${tolerance}% away from its acquisition value, ${acquisitionValue}. If it is right, type it once more.`,
  ],
  otherValue: (code: string) => [
    `Os dois valores de ${code} não são iguais.`,
    `The two values of ${code} are not equal.`,
  ],
  wrongDate: [
    'Informe um dia que existe, como 30/06/2026, e não posterior a amanhã.',
    'Give a day that exists, such as 30/06/2026, and not after tomorrow.',
  ],
  beforeIssue: (codes: string) => [
    `A data não pode ser anterior à emissão: ${codes}.`,
    `The day may not be before the issue: ${codes}.`,
  ],
  noReason: [
    'Escreva ao menos um motivo, com código e mensagem.',
    'Give at least one reason, with code and message.',
  ],
  wrongCode: [
    'Este código tem um espaço, um acento ou outro sinal que não pode ter.',
    'This code has a space, an accent or another sign that it may not have.',
  ],
  noMessage: ['Escreva a mensagem deste motivo.', 'Write the message of this reason.'],
  codeRule: [
    'Letras sem acento, algarismos, ponto, hífen e sublinhado, sem espaços: limite_de_concentracao.',
    'Letters without accents, digits, dots, hyphens and underscores, no spaces: concentration_limit.',
  ],
  nothingDecided: [
    'Nada foi decidido ainda: corrija o que está marcado.',
    'Nothing was decided yet: correct what is marked.',
  ],
  valueAgain: (code: string) => [
    `Valor desembolsado de ${code}, mais uma vez`,
    `Disbursed value of ${code}, once more`,
  ],
  again: ['mais uma vez', 'once more'],
  sum: ['Soma dos valores digitados:', 'Sum of what was typed:'],
  exited: (value: string) => [
    `Valor das recompras concluídas: ${value}.`,
    `Value of the completed repurchases: ${value}.`,
  ],
  calculated: (value: string) => [`calculado: ${value}`, `calculated: ${value}`],
  exitReason: ['Motivo', 'Reason'],
  history: ['Histórico da operação', 'History of the operation'],
  disbursed: (value: string) => [`Total desembolsado: ${value}.`, `Disbursed in all: ${value}.`],
  changedMeanwhile: (status: string, changes: string) => [
    `A situação mudou depois que a página foi aberta. Agora: ${status}. ${changes}.`,
    `It changed after this page was opened. Now: ${status}. ${changes}.`,
  ],
  change: (status: string, by: string, at: string) => [
    `${status} por ${by} em ${at}`,
    `${status} by ${by} at ${at}`,
  ],
  administrator: ['administrador', 'the administrator'],
  shownDocument: ['Documento escolhido', 'Chosen document'],
  forgotten: ['Apagado com os dados do sacado', "Erased with the borrower's data"],
  dueDate: ['Vencimento', 'Due date'],
  received: ['Recebida em', 'Received at'],
  borrowerName: ['Sacado', 'Borrower'],
  yearly: ['Taxa ao ano', 'Rate a year'],
  rates: ['Taxas efetivas', 'Effective rates'],
  term: ['Prazo', 'Term'],
  termOf: (installments: string, last: string) => [
    `${installments} × até ${last}`,
    `${installments} × until ${last}`,
  ],
  comes: [
    'O que os cedentes enviam aparece aqui, o que espera há mais tempo primeiro.',
    'What originators send comes here, what waits longest first.',
  ],
  gone: ['decidida em outra mesa', 'decided at another desk'],
  chosenOnes: ['escolhidas', 'chosen'],
  lost: (count: string) => [
    `${count} das escolhidas já foram decididas em outra mesa`,
    `${count} of the chosen ones were decided at another desk`,
  ],
  wasChosen: (count: string, sum: string) => [
    `Na lista tinham sido escolhidas ${count}, ${sum}. Confira o que ficou antes de confirmar.`,
    `On the list ${count} were chosen, ${sum}. Check what is left before you confirm.`,
  ],
  otherTally: [
    'O formulário não tem as mesmas operações que a página mostrou, e nada foi decidido. Volte à lista e escolha de novo.',
    'The form does not have the operations that its page showed, and nothing was decided. Go back to the list and choose again.',
  ],
  usedReasons: ['Motivos já usados neste fundo', 'Reasons that this fund used before'],
  moreReasons: ['Mais motivos', 'More reasons'],
  next: ['Próxima da lista (n)', 'Next of the list (n)'],
  nothingLeft: ['Nada mais espera nesta lista.', 'Nothing else waits in this list.'],
  left: (operations: number, count: string, value: string) => [
    operations === 1
      ? `Nesta lista ainda espera 1 operação, ${value}.`
      : `Nesta lista ainda esperam ${count} operações, ${value}.`,
    operations === 1
      ? `1 operation still waits in this list, ${value}.`
      : `${count} operations still wait in this list, ${value}.`,
  ],
  exposure: ['O que o fundo já tem', 'What the fund has already'],
  adding: ['Somando…', 'Adding up…'],
  ofBorrower: ['Deste sacado neste fundo', 'Of this borrower in this fund'],
  openFaceValue: ['Valor de face em aberto deste sacado', 'Open face value of this borrower'],
  ofOriginator: ['Deste cedente neste fundo', 'Of this originator in this fund'],
  atLeast: ['Ao menos', 'At least'],
  together: (operations: number, count: string, value: string) => [
    operations === 0 ? 'nenhuma' : `${count} por ${value}`,
    operations === 0 ? 'none' : `${count} for ${value}`,
  ],
  heldActive: (together: string) => [`ativas: ${together}`, `active: ${together}`],
  heldWaiting: (together: string) => [`à espera: ${together}`, `waiting: ${together}`],
  noSame: [
    'Nenhuma outra operação deste sacado tem as mesmas parcelas.',
    'No other operation of this borrower has the same installments.',
  ],
  same: (count: number) => [
    count === 1
      ? 'Outra operação deste sacado tem as mesmas parcelas: pode ser o mesmo contrato.'
      : `Outras ${count} operações deste sacado têm as mesmas parcelas: pode ser o mesmo contrato.`,
    count === 1
      ? 'Another operation of this borrower has the same installments: it may be the same contract.'
      : `${count} other operations of this borrower have the same installments: they may be the same contract.`,
  ],
  sameTitle: ['O mesmo contrato em outra operação', 'The same contract in another operation'],
  repurchaseValue: ['Valor da recompra', 'Repurchase value'],
  effectiveDate: ['Data efetiva', 'Effective date'],
});
