/** `webhooks` manages subscriptions and covers `events`: seeing and sending again what was sent about operations. */
export const SCOPES = ['loans:write', 'loans:read', 'webhooks', 'events'] as const;
export type Scope = (typeof SCOPES)[number];

const OF_ALL_FUNDS: readonly Scope[] = ['loans:write', 'loans:read', 'webhooks'];
/** Subscriptions carry events of every fund of the application. */
const OF_SOME_FUNDS: readonly Scope[] = ['loans:write', 'loans:read', 'events'];

interface Limits {
  readonly scopes?: readonly Scope[];
  readonly onlyFundIds?: readonly string[];
}

/** What the tokens of a client with these limits allow. */
export const scopesOf = ({ scopes, onlyFundIds }: Limits): readonly Scope[] =>
  scopes ?? (onlyFundIds === undefined ? OF_ALL_FUNDS : OF_SOME_FUNDS);

export const allows = (scopes: readonly string[], wanted: Scope): boolean =>
  scopes.includes(wanted) || (wanted === 'events' && scopes.includes('webhooks'));
