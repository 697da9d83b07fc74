import { inLanguages } from '../../language.ts';

export const texts = inLanguages({
  title: ['Operações', 'Operations'],
  code: ['Parte do código', 'Part of the code'],
  document: ['CPF ou CNPJ do devedor', 'CPF or CNPJ of the borrower'],
  from: ['Recebida de', 'Received from'],
  to: ['até', 'to'],
  search: ['Procurar', 'Search'],
  clear: ['Limpar', 'Clear'],
  none: ['Nenhuma operação corresponde à busca.', 'No operation matches the search.'],
  nothingYet: ['Ainda não há operações.', 'There are no operations yet.'],
  whatComes: [
    'Cada operação que um originador enviar aparece aqui, a mais nova primeiro.',
    'Each operation that an originator sends stands here, the newest first.',
  ],
  lateness: ['Atraso', 'Lateness'],
  onlyLate: ['Só em atraso', 'Late only'],
  daysLate: ['Dias em atraso', 'Days late'],
  overdueValue: ['Valor em atraso', 'Overdue value'],
  sortBy: ['Ordenar por esta coluna', 'Sort by this column'],
  counted: (operations: string, one: boolean, atLeast: boolean) => [
    `${atLeast ? 'Pelo menos ' : ''}${operations} ${one ? 'operação' : 'operações'}.`,
    `${atLeast ? 'At least ' : ''}${operations} ${one ? 'operation' : 'operations'}.`,
  ],
  overdueSum: (value: string) => [
    `Em atraso ao todo: ${value}, em valor de face.`,
    `Overdue in all: ${value}, face value.`,
  ],
  tooManyLate: [
    'Há tantas em atraso que a lista segue a ordem de entrada; exporte o CSV para ordená-las.',
    'So many are late that they stand in the order of arrival; export the CSV to sort them.',
  ],
  lookedThrough: [
    'A busca ainda não percorreu tudo: a próxima página continua.',
    'Not everything was looked through yet: the next page goes on.',
  ],
  forgotten: [
    'Esta busca não é mais conhecida. Preencha-a de novo.',
    'This search is not known any more. Fill it in again.',
  ],
  found: ['Operações encontradas', 'Operations found'],
  received: ['Recebido', 'Came in'],
  receivedAt: ['Entrada', 'Received at'],
  first: ['Do começo', 'From the start'],
  badCode: [
    'O código tem até 100 letras, algarismos e sinais, sem espaços nem acentos. Corrija-o e procure de novo.',
    'A code has up to 100 letters, digits and signs, without blanks or accents. Correct it and search again.',
  ],
  badDocument: [
    'O documento é um CPF de 11 algarismos ou um CNPJ de 14 caracteres. Corrija-o e procure de novo.',
    'A document is a CPF of 11 digits or a CNPJ of 14 characters. Correct it and search again.',
  ],
  badFund: [
    'O fundo é um UUID, como os da lista. Corrija-o e procure de novo.',
    'A fund is a UUID, such as those of the list. Correct it and search again.',
  ],
  badChoice: [
    'O endereço pede uma situação, um atraso ou uma ordem que não existe. Escolha na lista e procure de novo.',
    'The address asks for a status, a lateness or an order that there is none of. Choose from the lists and search again.',
  ],
  badDates: [
    'As datas de recebimento precisam existir, e a segunda não pode vir antes da primeira.',
    'The days of reception have to exist, and the second must not come before the first.',
  ],
});
