/** What a token may allow. `ofAllFunds`, `ofSomeFunds`: whether a client of all funds, or of some, can have it when it is not told which. */
export const SCOPE_TABLE = {
  'loans:write': { meaning: 'Assign operations and change them.', ofAllFunds: true, ofSomeFunds: true },
  'loans:read': { meaning: 'Read operations.', ofAllFunds: true, ofSomeFunds: true },
  // Subscriptions carry events of every fund of the application.
  webhooks: { meaning: 'Manage subscriptions; covers `events`.', ofAllFunds: true, ofSomeFunds: false },
  events: {
    meaning: 'See what was sent about operations, and have it sent again.',
    ofAllFunds: false,
    ofSomeFunds: true,
  },
} as const;
export type Scope = keyof typeof SCOPE_TABLE;

export const SCOPES = Object.keys(SCOPE_TABLE) as readonly Scope[];

export const scopesOf = ({
  scopes,
  onlyFundIds,
}: {
  readonly scopes?: readonly Scope[];
  readonly onlyFundIds?: readonly string[];
}): readonly Scope[] =>
  scopes ??
  SCOPES.filter((scope) => SCOPE_TABLE[scope][onlyFundIds === undefined ? 'ofAllFunds' : 'ofSomeFunds']);

/** Who may manage subscriptions may see what they sent. */
export const allows = (scopes: readonly string[], wanted: Scope): boolean =>
  scopes.includes(wanted) || (wanted === 'events' && scopes.includes('webhooks'));
