import type { DeliveryState } from '../../../../application/ports/delivery-log.ts';
import type { EndpointChoice } from '../../../../application/ports/webhook-desk.ts';
import type { InLanguages } from '../../language.ts';

interface WebhookTexts {
  readonly endpoints: string;
  readonly noEndpoint: string;
  readonly choices: Readonly<Record<EndpointChoice, string>>;
  readonly choice: string;
  readonly endpoint: string;
  readonly application: string;
  readonly state: string;
  readonly active: string;
  readonly paused: string;
  readonly failing: string;
  readonly success: string;
  readonly median: string;
  readonly p95: string;
  readonly waiting: string;
  readonly gaveUp: string;
  readonly lastSuccess: string;
  readonly lastFailure: string;
  readonly never: string;
  readonly measured: (deliveries: number) => string;
  readonly more: string;
  readonly back: string;
  readonly events: string;
  readonly allEvents: string;
  readonly funds: string;
  readonly allFunds: string;
  readonly created: string;
  readonly description: string;
  readonly ping: string;
  readonly pingHint: string;
  readonly pinged: string;
  readonly pausedHint: string;
  readonly onlyReading: string;
  readonly deliveries: string;
  readonly noDelivery: string;
  readonly anyState: string;
  readonly states: Readonly<Record<DeliveryState, string>>;
  readonly event: string;
  readonly operation: string;
  readonly attempts: string;
  readonly answer: string;
  readonly noAnswer: string;
  readonly next: string;
  readonly older: string;
  readonly newest: string;
  readonly show: string;
  readonly delivery: string;
  readonly delivered: string;
  readonly resend: string;
  readonly resendHint: string;
  readonly resent: string;
  readonly bodySent: string;
  readonly signed: string;
  readonly noAttempt: string;
  readonly started: string;
  readonly duration: string;
  readonly outcome: string;
  readonly answerBody: string;
  readonly answerCut: string;
  readonly emptyAnswer: string;
  readonly ok: string;
  readonly ms: string;
  readonly times: string;
  readonly succeeded: string;
  readonly failed: string;
  readonly pictured: (attempts: number, failures: number) => string;
}

export const WEBHOOKS: InLanguages<WebhookTexts> = {
  'pt-BR': {
    endpoints: 'Endereços',
    noEndpoint: 'Nenhum webhook aqui.',
    choices: { all: 'Todos', failing: 'Com falha', paused: 'Pausados' },
    choice: 'Quais',
    endpoint: 'Endereço',
    application: 'Aplicação',
    state: 'Situação',
    active: 'Ativo',
    paused: 'Pausado',
    failing: 'Falhando há',
    success: 'Tentativas com êxito',
    median: 'Resposta mediana',
    p95: '95% em até',
    waiting: 'À espera',
    gaveUp: 'Desistências',
    lastSuccess: 'Último êxito',
    lastFailure: 'Última falha',
    never: 'nunca',
    measured: (deliveries) =>
      `Êxito e tempo de resposta são das últimas ${deliveries} entregas de cada endereço.`,
    more: 'Mais endereços',
    back: 'Webhooks',
    events: 'Eventos',
    allEvents: 'todos',
    funds: 'Fundos',
    allFunds: 'todos da aplicação',
    created: 'Criado em',
    description: 'Descrição',
    ping: 'Enviar ping',
    pingHint: 'Envia webhook.ping só a este endereço.',
    pinged: 'O ping está na fila: o resultado aparece entre as entregas assim que houver resposta.',
    pausedHint: 'O webhook está pausado: sua aplicação precisa retomá-lo antes de qualquer envio.',
    onlyReading: 'Este console é somente de leitura: nada é enviado daqui.',
    deliveries: 'Entregas',
    noDelivery: 'Nenhuma entrega aqui.',
    anyState: 'Todas',
    states: { pending: 'À espera', retrying: 'Tentando de novo', delivered: 'Entregue', failed: 'Desistiu' },
    event: 'Evento',
    operation: 'Operação',
    attempts: 'Tentativas',
    answer: 'Resposta',
    noAnswer: 'sem resposta',
    next: 'Próxima tentativa',
    older: 'Mais antigas',
    newest: 'As mais recentes',
    show: 'Ver a entrega',
    delivery: 'Entrega',
    delivered: 'Entregue em',
    resend: 'Enviar de novo',
    resendHint: 'Mais uma tentativa deste evento, só para este endereço e fora da ordem.',
    resent: 'O envio está na fila: a tentativa aparece abaixo assim que houver resposta.',
    bodySent: 'Corpo enviado',
    signed: 'Estes são os bytes que foram assinados, com quebras de linha para leitura.',
    noAttempt: 'Ainda não houve tentativa.',
    started: 'Início',
    duration: 'Duração',
    outcome: 'Resultado',
    answerBody: 'Resposta recebida',
    answerCut: 'Guardam-se os primeiros 2 KiB.',
    emptyAnswer: 'resposta vazia',
    ok: 'êxito',
    ms: 'ms',
    times: 'Duração das últimas tentativas (ms)',
    succeeded: 'Com êxito',
    failed: 'Com falha',
    pictured: (attempts, failures) =>
      `Duração das últimas ${attempts} tentativas, da mais antiga à mais nova; ${failures} falharam.`,
  },
  en: {
    endpoints: 'Endpoints',
    noEndpoint: 'No webhook here.',
    choices: { all: 'All', failing: 'Failing', paused: 'Paused' },
    choice: 'Which',
    endpoint: 'Endpoint',
    application: 'Application',
    state: 'State',
    active: 'Active',
    paused: 'Paused',
    failing: 'Failing for',
    success: 'Attempts that succeeded',
    median: 'Median answer',
    p95: '95% within',
    waiting: 'Waiting',
    gaveUp: 'Given up',
    lastSuccess: 'Last success',
    lastFailure: 'Last failure',
    never: 'never',
    measured: (deliveries) =>
      `Success and answer times are of the last ${deliveries} deliveries of each endpoint.`,
    more: 'More endpoints',
    back: 'Webhooks',
    events: 'Events',
    allEvents: 'all',
    funds: 'Funds',
    allFunds: 'all of the application',
    created: 'Created',
    description: 'Description',
    ping: 'Send a ping',
    pingHint: 'Sends webhook.ping to this endpoint alone.',
    pinged: 'The ping is queued: its result shows among the deliveries as soon as there is an answer.',
    pausedHint: 'The webhook is paused: its application has to resume it before anything is sent.',
    onlyReading: 'This console is read only: nothing is sent from here.',
    deliveries: 'Deliveries',
    noDelivery: 'No delivery here.',
    anyState: 'All',
    states: { pending: 'Waiting', retrying: 'Retrying', delivered: 'Delivered', failed: 'Given up' },
    event: 'Event',
    operation: 'Operation',
    attempts: 'Attempts',
    answer: 'Answer',
    noAnswer: 'no answer',
    next: 'Next attempt',
    older: 'Older',
    newest: 'The newest',
    show: 'Show the delivery',
    delivery: 'Delivery',
    delivered: 'Delivered',
    resend: 'Send again',
    resendHint: 'One more attempt of this event, to this endpoint alone and outside the order.',
    resent: 'It is queued: the attempt shows below as soon as there is an answer.',
    bodySent: 'Body sent',
    signed: 'These are the bytes that were signed, broken into lines for reading.',
    noAttempt: 'There was no attempt yet.',
    started: 'Started',
    duration: 'Duration',
    outcome: 'Result',
    answerBody: 'Answer received',
    answerCut: 'The first 2 KiB are kept.',
    emptyAnswer: 'empty answer',
    ok: 'success',
    ms: 'ms',
    times: 'Time taken by the last attempts (ms)',
    succeeded: 'Succeeded',
    failed: 'Failed',
    pictured: (attempts, failures) =>
      `How long the last ${attempts} attempts took, oldest first; ${failures} of them failed.`,
  },
};
