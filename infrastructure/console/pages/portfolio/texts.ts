import { EXIT_STATUSES } from '../../../../domain/loan/exits.ts';
import type { RepurchaseEndStatus } from '../../../../domain/loan/exits.ts';
import { inLanguages } from '../../language.ts';
import type { Both } from '../../language.ts';

const exitFlows = Object.fromEntries(
  Object.entries(EXIT_STATUSES).map(([status, { flow }]) => [status, [flow['pt-BR'], flow.en]]),
) as unknown as Readonly<Record<RepurchaseEndStatus, Both>>;

export const texts = inLanguages({
  title: ['Carteira', 'Portfolio'],
  against: ['Comparada com', 'Against'],
  choose: ['Escolha um fundo.', 'Choose a fund.'],
  allFunds: ['Todos os fundos juntos', 'All funds together'],
  byFund: ['Por fundo', 'By fund'],
  borrowersApart: [
    'Um devedor se reconhece dentro de um fundo só: quem deve a dois aparece duas vezes.',
    'A borrower is known within one fund alone: who owes to two of them stands here twice.',
  ],
  dueIn: (month: string) => [`Vencimento em ${month}`, `Due in ${month}`],
  largestShown: (operations: string) => [`As ${operations} maiores.`, `The ${operations} largest.`],
  computing: ['Calculando a posição…', 'Computing the position…'],
  badRequest: [
    'A carteira pede um fundo da lista e dias que existem, como 20/06/2026. Informe-os de novo.',
    'A portfolio asks for a fund of the list and for days that exist, such as 20/06/2026. Give them again.',
  ],
  operations: ['Operações em carteira', 'Operations held'],
  open: ['Valor presente em aberto', 'Open present value'],
  overdue: ['Vencido', 'Overdue'],
  overdueShare: (share: string) => [`${share} do valor presente`, `${share} of the present value`],
  received: ['Recebido até o dia', 'Received up to the day'],
  onDay: (value: string) => [`${value} no dia`, `${value} on the day`],
  since: (day: string, difference: string) => [`${difference} desde ${day}`, `${difference} since ${day}`],
  ageing: ['Atraso', 'Ageing'],
  ageingSays: ['Valor presente vencido por dias de atraso.', 'Overdue present value by days late.'],
  notDue: ['A vencer', 'Not due yet'],
  presentValue: ['Valor presente', 'Present value'],
  cash: ['Fluxo por mês', 'Cash flow by month'],
  cashSays: [
    'Por mês: recebido, vencido e a vencer, em valor de face.',
    'By month: received, overdue and to fall due, in face value.',
  ],
  month: ['Mês', 'Month'],
  came: ['Recebido', 'Received'],
  falling: ['A vencer, valor de face', 'To fall due, face value'],
  overdueFace: ['Vencido, valor de face', 'Overdue, face value'],
  asTable: ['Em uma tabela', 'As a table'],
  composition: ['Composição por aplicação', 'Composition by application'],
  compositionSays: [
    'Valor presente por aplicação, a maior primeiro.',
    'Present value by application, the largest first.',
  ],
  share: ['Parte', 'Share'],
  cumulative: ['Acumulado', 'Cumulative'],
  byState: ['Composição por situação', 'Composition by state'],
  byStateSays: [
    'Valor presente por situação, a maior primeiro.',
    'Present value by state, the largest first.',
  ],
  state: ['Situação no fim do dia', 'State at the end of the day'],
  byProduct: ['Composição por produto', 'Composition by product'],
  byProductSays: [
    'Valor presente por produto, o maior primeiro.',
    'Present value by product, the largest first.',
  ],
  unknown: ['não se sabe', 'not known'],
  concentration: ['Concentração: as maiores operações', 'Concentration: the largest operations'],
  concentrationSays: (one: string, ten: string) => [
    `A parte maior: ${one}; as dez maiores: ${ten} do valor presente.`,
    `The largest: ${one}; the ten largest: ${ten} of the present value.`,
  ],
  concentrationThen: (day: string, one: string, ten: string) => [
    `Em ${day}: ${one} e ${ten}.`,
    `On ${day}: ${one} and ${ten}.`,
  ],
  borrowers: ['Concentração: os maiores devedores', 'Concentration: the largest borrowers'],
  borrowersSay: [
    'Valor presente dos dez maiores devedores, o maior primeiro, e dos outros.',
    'Present value of the ten largest borrowers, the largest first, and of the others.',
  ],
  borrowersDrawn: ['Os dez maiores devedores', 'The ten largest borrowers'],
  everyoneElse: ['Todos os outros', 'Everyone else'],
  others: (borrowers: string) => [`outros ${borrowers} devedores`, `${borrowers} other borrowers`],
  forgotten: ['devedores apagados', 'erased borrowers'],
  largestOperation: ['Maior operação', 'Largest operation'],
  nothing: [
    'O fundo não tem parcelas em aberto neste dia.',
    'The fund has no open installments on this day.',
  ],
  unvalued: (operations: string, codes: string) => [
    `${operations} operações valem mais do que um valor pode dizer; nenhum valor presente as contém: ${codes}.`,
    `${operations} operations are worth more than an amount can say; no present value holds them: ${codes}.`,
  ],
  countsFrom: [
    'Uma operação conta desde o dia do seu desembolso, mesmo recebida ou registrada depois; a página dela a mostra desde o recebimento.',
    'An operation counts from the day of its disbursement, even one that was received or registered later; its own page shows it from its reception.',
  ],
  flows: ['O que entrou', 'What came in'],
  flow: ['Como', 'How'],
  dayValue: ['No dia', 'On the day'],
  toDate: ['Até o dia', 'Up to the day'],
  exportComposition: ['Exportar composição e concentração', 'Export composition and concentration'],
  kinds: {
    settled: ['Parcelas pagas', 'Paid installments'],
    prepaid: ['Pagamentos antecipados', 'Prepayments'],
    ...exitFlows,
  },
});
