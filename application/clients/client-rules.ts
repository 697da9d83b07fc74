import { DomainError } from '../../domain/shared/domain-error.ts';
import type { FieldViolation } from '../../domain/shared/domain-error.ts';
import { SCOPES } from './scopes.ts';
import type { Client, ClientChanges } from './client-registry.ts';

export interface CreateClientInput {
  readonly name: string;
  readonly fundIds: readonly string[];
  readonly scopes?: readonly string[];
  /** Of the application's funds, those whose operations and events exist for this client; default: all. */
  readonly onlyFundIds?: readonly string[];
  /** An existing application, or the id that a new one shall have; default: a new one with a random id. */
  readonly applicationId?: string;
  readonly rateLimitMultiplier?: number;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const NAME = /^[^\p{Cc}]{1,100}$/u;
/** Part of stream names, so without a dot. */
const APPLICATION_ID = /^[A-Za-z0-9_-]{1,64}$/;
const LARGEST_MULTIPLIER = 1000;

export const NO_FUND: FieldViolation = {
  field: 'fund',
  code: 'invalid',
  message: 'at least one fund is needed',
};

export const notYetLimited = (): DomainError =>
  violated([
    {
      field: 'only_fund',
      code: 'invalid',
      message:
        'processes of release 2026.11.1 may still run, and they know no limits of a client; when none does, run `receivables upgrade finish`, then create the client',
    },
  ]);

export const violated = (violations: readonly FieldViolation[]): DomainError =>
  new DomainError('validation_error', violations.map(({ message }) => message).join('; '), violations);

export const requireValid = (input: CreateClientInput): void => {
  const violations = [...violationsOf(input)];
  if (violations.length > 0) throw violated(violations);
};

const invalid = (field: string, message: string): FieldViolation => ({ field, code: 'invalid', message });

/** What holds for a name and a multiplier whenever they are given. @throws DomainError `validation_error` */
export const requireLimits = (
  input: Partial<Pick<CreateClientInput, 'name' | 'rateLimitMultiplier'>>,
): void => {
  const violations = [...limitViolations(input)];
  if (violations.length > 0) throw violated(violations);
};

const limitViolations = function* ({
  name,
  rateLimitMultiplier = 1,
}: Partial<Pick<CreateClientInput, 'name' | 'rateLimitMultiplier'>>): Generator<FieldViolation> {
  if (name !== undefined && !NAME.test(name.trim()))
    yield invalid('name', 'name must be 1 to 100 printable characters');
  if (!(rateLimitMultiplier > 0 && rateLimitMultiplier <= LARGEST_MULTIPLIER)) {
    yield invalid(
      'rate_limit_multiplier',
      `rate limit multiplier must be above 0 and at most ${LARGEST_MULTIPLIER}`,
    );
  }
};

const violationsOf = function* (input: CreateClientInput): Generator<FieldViolation> {
  const { fundIds, onlyFundIds, applicationId } = input;
  yield* limitViolations(input);
  if (fundIds.length === 0 && applicationId === undefined) yield NO_FUND;
  for (const id of fundIds) if (!UUID.test(id)) yield invalid('fund', `fund ${id} is not a UUID`);
  for (const id of onlyFundIds ?? []) {
    if (!UUID.test(id)) yield invalid('only_fund', `only-fund ${id} is not a UUID`);
  }
  yield* scopeViolations(input);
  if (applicationId !== undefined && !APPLICATION_ID.test(applicationId)) {
    yield invalid('application', 'application must be 1 to 64 letters, digits, "_" or "-"');
  }
};

const scopeViolations = function* ({ scopes, onlyFundIds }: CreateClientInput): Generator<FieldViolation> {
  for (const scope of scopes ?? []) {
    if (!(SCOPES as readonly string[]).includes(scope)) {
      yield invalid('scope', `scope ${scope} does not exist; there are ${SCOPES.join(', ')}`);
    }
  }
  if (onlyFundIds && scopes?.includes('webhooks')) {
    yield invalid(
      'scope',
      'a client of some funds cannot have the scope webhooks, because webhooks carry events of every fund; give it events',
    );
  }
};

const notAllowed = (message: string): DomainError => new DomainError('fund_not_allowed', message);

/** No application is left without a fund, and no client without one that it is limited to. @throws DomainError `fund_not_allowed` */
export const requireUnlinkable = (
  linked: readonly string[],
  { addFundIds, removeFundIds }: ClientChanges,
  clients: readonly Client[],
): void => {
  const stranger = removeFundIds.find((id) => !linked.includes(id));
  if (stranger !== undefined) throw notAllowed(`fund ${stranger} is not linked to the application`);
  const left = [...linked.filter((id) => !removeFundIds.includes(id)), ...addFundIds];
  if (left.length === 0) throw notAllowed('an application needs at least one fund');
  for (const { clientId, onlyFundIds = [], revokedAt } of clients) {
    const needed = onlyFundIds.find((id) => removeFundIds.includes(id) && !addFundIds.includes(id));
    if (revokedAt === null && needed !== undefined)
      throw notAllowed(`client ${clientId} is limited to fund ${needed}: revoke it first`);
  }
};
