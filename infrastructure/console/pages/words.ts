import type { AwaitingStatus } from '../../../application/administrator/awaited.ts';
import type { InLanguages } from '../language.ts';

/** Words that several pages use, so that they all use the same. */
const pt = {
  awaited: {
    received: 'Aprovação',
    approved: 'Assinatura do termo',
    term_signed: 'Desembolso',
    repurchase_pending: 'Conclusão da recompra',
  } satisfies Record<AwaitingStatus, string>,
  fund: 'Fundo',
  application: 'Aplicação',
  operation: 'Operação',
  status: 'Situação',
  acquisitionValue: 'Valor de aquisição',
  waitsFor: 'Espera por',
  waits: 'Espera há',
  more: 'Próxima página',
  all: 'Todos',
  noOperation: 'Não há operação com este código nesta aplicação. Volte à lista e escolha outra.',
};

export const WORDS: InLanguages<typeof pt> = {
  'pt-BR': pt,
  en: {
    awaited: {
      received: 'Approval',
      approved: 'Signature of the term',
      term_signed: 'Disbursement',
      repurchase_pending: 'Completion of the repurchase',
    },
    fund: 'Fund',
    application: 'Application',
    operation: 'Operation',
    status: 'Status',
    acquisitionValue: 'Acquisition value',
    waitsFor: 'Waits for',
    waits: 'Waiting for',
    more: 'Next page',
    all: 'All',
    noOperation:
      'This application has no operation with this code. Go back to the list and choose another one.',
  },
};
