import type { InLanguages } from '../../language.ts';

const pt = {
  title: 'Operações',
  code: 'Código começa com',
  document: 'CPF ou CNPJ do devedor',
  from: 'Recebida de',
  to: 'até',
  search: 'Procurar',
  clear: 'Limpar',
  export: 'Exportar CSV',
  none: 'Nenhuma operação corresponde à busca.',
  forgotten: 'Esta busca não é mais conhecida. Preencha-a de novo.',
  found: 'Operações encontradas',
  borrower: 'Devedor',
  product: 'Produto',
  received: 'Recebido',
  issued: 'Emissão',
  receivedAt: 'Entrada',
  erased: 'apagado',
  first: 'Do começo',
  badCode:
    'O código tem até 100 letras, algarismos e sinais, sem espaços nem acentos. Corrija-o e procure de novo.',
  badDocument:
    'O documento é um CPF de 11 algarismos ou um CNPJ de 14 caracteres. Corrija-o e procure de novo.',
  badFund: 'O fundo é um UUID, como os da lista. Corrija-o e procure de novo.',
  badDates: 'As datas de recebimento precisam existir, e a segunda não pode vir antes da primeira.',
};

export const OPERATIONS: InLanguages<typeof pt> = {
  'pt-BR': pt,
  en: {
    title: 'Operations',
    code: 'Code begins with',
    document: 'CPF or CNPJ of the borrower',
    from: 'Received from',
    to: 'to',
    search: 'Search',
    clear: 'Clear',
    export: 'Export CSV',
    none: 'No operation matches the search.',
    forgotten: 'This search is not known any more. Fill it in again.',
    found: 'Operations found',
    borrower: 'Borrower',
    product: 'Product',
    received: 'Came in',
    issued: 'Issued',
    receivedAt: 'Received at',
    erased: 'erased',
    first: 'From the start',
    badCode:
      'A code has up to 100 letters, digits and signs, without blanks or accents. Correct it and search again.',
    badDocument: 'A document is a CPF of 11 digits or a CNPJ of 14 characters. Correct it and search again.',
    badFund: 'A fund is a UUID, such as those of the list. Correct it and search again.',
    badDates: 'The days of reception have to exist, and the second must not come before the first.',
  },
};
