/** What is open along the curve, what the fund gave, or the same less the money received, never below zero. */
export type ExitPricing = 'present_value' | 'given_value' | 'given_less_received';

interface Words {
  readonly 'pt-BR': string;
  readonly en: string;
}

/** The final statuses of exits, with what an operation in one of them is called, and the money that came in that way. */
export const EXIT_STATUSES = {
  repurchased: {
    stage: 'ended',
    name: { 'pt-BR': 'Recomprada', en: 'Repurchased' },
    flow: { 'pt-BR': 'Recompras', en: 'Repurchases' },
  },
  reversed: {
    stage: 'ended',
    name: { 'pt-BR': 'Revertida', en: 'Reversed' },
    flow: { 'pt-BR': 'Reversões', en: 'Reversals' },
  },
  resolved: {
    stage: 'ended',
    name: { 'pt-BR': 'Resolvida', en: 'Resolved' },
    flow: { 'pt-BR': 'Resoluções', en: 'Resolutions' },
  },
} as const satisfies Readonly<
  Record<string, { readonly stage: 'ended'; readonly name: Words; readonly flow: Words }>
>;
export type RepurchaseEndStatus = keyof typeof EXIT_STATUSES;

interface Exit {
  /** What the operation is once the exit is through; that is also the kind of money that it brings a portfolio. */
  readonly status: RepurchaseEndStatus;
  readonly pricing: ExitPricing;
  readonly name: Words;
}

/** The ways out of the fund before the schedule is paid, by the reason that a request gives. Everything else about them follows from here. */
export const EXITS = {
  repurchase: {
    status: 'repurchased',
    pricing: 'present_value',
    name: { 'pt-BR': 'recompra', en: 'repurchase' },
  },
  integrated_repurchase: {
    status: 'repurchased',
    pricing: 'present_value',
    name: { 'pt-BR': 'recompra integrada', en: 'integrated repurchase' },
  },
  cession_reversal: {
    status: 'reversed',
    pricing: 'given_value',
    name: { 'pt-BR': 'reversão da cessão', en: 'reversal of the cession' },
  },
  resolution: {
    status: 'resolved',
    pricing: 'given_less_received',
    name: { 'pt-BR': 'resolução da cessão', en: 'resolution of the cession' },
  },
} as const satisfies Readonly<Record<string, Exit>>;
export type RepurchaseReason = keyof typeof EXITS;

const listOf = <Table extends object>(table: Table): readonly (keyof Table)[] =>
  Object.keys(table) as (keyof Table)[];

export const REPURCHASE_REASONS = listOf(EXITS);
export const REPURCHASE_END_STATUSES = listOf(EXIT_STATUSES);
