import { EXIT_STATUSES } from './exits.ts';

interface Status {
  /** `owing` until it leaves `active`; `leaving` has a request that the administrator has not processed; from `ended` nothing goes on. */
  readonly stage: 'owing' | 'leaving' | 'ended';
  /** For a decision of the fund's administrator. */
  readonly waits?: true;
  readonly name: { readonly 'pt-BR': string; readonly en: string };
}

export const STATUSES = {
  received: { stage: 'owing', waits: true, name: { 'pt-BR': 'Recebida', en: 'Received' } },
  approved: { stage: 'owing', waits: true, name: { 'pt-BR': 'Aprovada', en: 'Approved' } },
  rejected: { stage: 'ended', name: { 'pt-BR': 'Rejeitada', en: 'Rejected' } },
  term_signed: { stage: 'owing', waits: true, name: { 'pt-BR': 'Termo assinado', en: 'Term signed' } },
  active: { stage: 'owing', name: { 'pt-BR': 'Ativa', en: 'Active' } },
  repurchase_pending: {
    stage: 'leaving',
    waits: true,
    name: { 'pt-BR': 'Recompra pendente', en: 'Repurchase pending' },
  },
  ...EXIT_STATUSES,
  renegotiated: { stage: 'ended', name: { 'pt-BR': 'Renegociada', en: 'Renegotiated' } },
  settled: { stage: 'ended', name: { 'pt-BR': 'Liquidada', en: 'Settled' } },
} as const satisfies Readonly<Record<string, Status>>;

export type ShownStatus = keyof typeof STATUSES;
/** `reserved`: active to readers, and held by a renegotiation that is not decided yet. */
export type LoanStatus = ShownStatus | 'reserved';

export const LOAN_STATUSES = Object.keys(STATUSES) as readonly ShownStatus[];

export const isShownStatus = (text: string): text is ShownStatus => Object.hasOwn(STATUSES, text);

export type WaitingStatus = {
  [Name in ShownStatus]: (typeof STATUSES)[Name] extends { readonly waits: true } ? Name : never;
}[ShownStatus];

export const isAwaited = (status: ShownStatus): status is WaitingStatus => 'waits' in STATUSES[status];

export const WAITING_STATUSES = LOAN_STATUSES.filter(isAwaited);

const stageOf = (status: LoanStatus): Status['stage'] =>
  STATUSES[status === 'reserved' ? 'active' : status].stage;

/** Until it leaves `active`; from then on its installments are frozen and owe the fund nothing more. */
export const owesSchedule = (status: LoanStatus): boolean => stageOf(status) === 'owing';

export const hasEnded = (status: LoanStatus): boolean => stageOf(status) === 'ended';
