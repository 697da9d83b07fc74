import type { DecisionName } from '../../../../application/publishing/description/decision-schema.ts';
import type { InLanguages } from '../../language.ts';

interface DecisionTexts {
  readonly decide: Readonly<Record<DecisionName, string>>;
  readonly choose: string;
  readonly chooseAll: string;
  readonly chosen: (code: string) => string;
  readonly filter: string;
  readonly nothing: string;
  readonly withChosen: string;
  readonly nothingChosen: string;
  readonly keys: string;
  readonly keyHelp: string;
  readonly now: (count: string) => string;
  readonly preview: string;
  readonly previewOf: (decision: string, count: number, value: string) => string;
  readonly others: (count: number) => string;
  readonly confirm: string;
  readonly back: string;
  readonly reason: (number: number) => string;
  readonly reasonCode: string;
  readonly reasonMessage: string;
  readonly reasonHelp: string;
  readonly date: string;
  readonly value: string;
  readonly valueOf: (code: string) => string;
  readonly note: string;
  readonly recordedAs: (operator: string) => string;
  readonly results: string;
  readonly resultOf: (done: number, refused: number) => string;
  readonly outcomes: Readonly<Record<'applied' | 'already_applied' | 'refused', string>>;
  readonly outcome: string;
  readonly wrongAmount: (code: string) => string;
  readonly noReason: string;
  readonly documents: string;
  readonly noDocuments: string;
  readonly shownDocument: string;
  readonly forgotten: string;
  readonly schedule: string;
  readonly dueDate: string;
  readonly faceValue: string;
  readonly product: string;
  readonly issued: string;
  readonly received: string;
  readonly borrower: string;
  readonly repurchaseValue: string;
  readonly effectiveDate: string;
}

export const DECISIONS: InLanguages<DecisionTexts> = {
  'pt-BR': {
    decide: {
      approve: 'Aprovar',
      reject: 'Rejeitar',
      sign_term: 'Assinar termo',
      disburse: 'Desembolsar',
      process_repurchase: 'Concluir recompra',
    },
    choose: 'Escolher',
    chooseAll: 'Escolher todas desta página',
    chosen: (code) => `Escolher ${code}`,
    filter: 'Filtrar',
    nothing: 'Nada espera por uma decisão aqui.',
    withChosen: 'Com as escolhidas:',
    nothingChosen: 'Nenhuma operação foi escolhida. Volte à lista e marque ao menos uma.',
    keys: 'Teclas',
    keyHelp:
      'j e k: próxima e anterior · espaço: escolher · o: abrir · a: aprovar · r: rejeitar · s: assinar · d: desembolsar · c: concluir',
    now: (count) => `Agora esperam ${count} operações.`,
    preview: 'Conferir antes de decidir',
    previewOf: (decision, count, value) =>
      `${decision}: ${count} ${count === 1 ? 'operação' : 'operações'}, valor de aquisição ${value}.`,
    others: (count) =>
      `${count} das escolhidas não ${count === 1 ? 'espera' : 'esperam'} por esta decisão e ficam como estão.`,
    confirm: 'Confirmar',
    back: 'Voltar à lista',
    reason: (number) => `Motivo ${number}`,
    reasonCode: 'Código',
    reasonMessage: 'Mensagem',
    reasonHelp: 'O cedente lê o código e a mensagem. Sem dados pessoais.',
    date: 'Data do desembolso',
    value: 'Valor desembolsado',
    valueOf: (code) => `Valor desembolsado de ${code}`,
    note: 'Observação para a auditoria, sem dados pessoais (opcional)',
    recordedAs: (operator) => `A decisão fica registrada em nome de ${operator}.`,
    results: 'Resultado',
    resultOf: (done, refused) => `${done} feitas, ${refused} recusadas.`,
    outcomes: { applied: 'Feita', already_applied: 'Já estava feita', refused: 'Recusada' },
    outcome: 'Resultado',
    wrongAmount: (code) => `O valor de ${code} deve ser escrito como 1.234,56.`,
    noReason: 'Escreva ao menos um motivo, com código e mensagem.',
    documents: 'Documentos',
    noDocuments: 'Esta operação não tem documentos.',
    shownDocument: 'Documento escolhido',
    forgotten: 'Apagado com os dados do sacado',
    schedule: 'Parcelas',
    dueDate: 'Vencimento',
    faceValue: 'Valor de face',
    product: 'Produto',
    issued: 'Emissão',
    received: 'Recebida em',
    borrower: 'Documento do sacado',
    repurchaseValue: 'Valor da recompra',
    effectiveDate: 'Data efetiva',
  },
  en: {
    decide: {
      approve: 'Approve',
      reject: 'Reject',
      sign_term: 'Sign term',
      disburse: 'Disburse',
      process_repurchase: 'Complete repurchase',
    },
    choose: 'Choose',
    chooseAll: 'Choose all of this page',
    chosen: (code) => `Choose ${code}`,
    filter: 'Filter',
    nothing: 'Nothing waits for a decision here.',
    withChosen: 'With the chosen ones:',
    nothingChosen: 'No operation was chosen. Go back to the list and tick at least one.',
    keys: 'Keys',
    keyHelp:
      'j and k: next and previous · space: choose · o: open · a: approve · r: reject · s: sign · d: disburse · c: complete',
    now: (count) => `${count} operations wait now.`,
    preview: 'Check before you decide',
    previewOf: (decision, count, value) =>
      `${decision}: ${count} ${count === 1 ? 'operation' : 'operations'}, acquisition value ${value}.`,
    others: (count) =>
      `${count} of the chosen ones ${count === 1 ? 'does' : 'do'} not wait for this decision and stay${count === 1 ? 's' : ''} as ${count === 1 ? 'it is' : 'they are'}.`,
    confirm: 'Confirm',
    back: 'Back to the list',
    reason: (number) => `Reason ${number}`,
    reasonCode: 'Code',
    reasonMessage: 'Message',
    reasonHelp: 'The originator reads the code and the message. No personal data.',
    date: 'Day of the disbursement',
    value: 'Disbursed value',
    valueOf: (code) => `Disbursed value of ${code}`,
    note: 'Note for the audit, without personal data (optional)',
    recordedAs: (operator) => `The decision is recorded in the name of ${operator}.`,
    results: 'Result',
    resultOf: (done, refused) => `${done} done, ${refused} refused.`,
    outcomes: { applied: 'Done', already_applied: 'Was done already', refused: 'Refused' },
    outcome: 'Outcome',
    wrongAmount: (code) => `The value of ${code} has to be written like 1.234,56.`,
    noReason: 'Give at least one reason, with code and message.',
    documents: 'Documents',
    noDocuments: 'This operation has no documents.',
    shownDocument: 'Chosen document',
    forgotten: "Erased with the borrower's data",
    schedule: 'Installments',
    dueDate: 'Due date',
    faceValue: 'Face value',
    product: 'Product',
    issued: 'Issued',
    received: 'Received at',
    borrower: "Borrower's document",
    repurchaseValue: 'Repurchase value',
    effectiveDate: 'Effective date',
  },
};
