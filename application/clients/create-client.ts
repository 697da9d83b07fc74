import { randomUUID } from 'node:crypto';
import { DomainError } from '../../domain/shared/domain-error.ts';
import type { FieldViolation } from '../../domain/shared/domain-error.ts';
import { SCOPES } from '../ports/clients.ts';
import type { ClientCredentials, ClientRegistry, Scope } from '../ports/clients.ts';
import type { StoredFormats } from '../ports/stored-formats.ts';
import type { RealClock } from '../ports/clock.ts';

interface Dependencies {
  readonly registry: ClientRegistry;
  readonly credentials: ClientCredentials;
  readonly clock: RealClock;
  readonly formats: Pick<StoredFormats, 'forEarlierRelease'>;
}

export interface CreateClientInput {
  readonly name: string;
  /** UUIDs, linked to the application beside those that it has; at least one for a new application. */
  readonly fundIds: readonly string[];
  /** Default: all that a client of its kind can have. @see scopesOf */
  readonly scopes?: readonly string[];
  /** Of the application's funds, those whose operations and events exist for this client; default: all. */
  readonly onlyFundIds?: readonly string[];
  /** An existing application, or the id that a new one shall have; default: a new one with a random id. */
  readonly applicationId?: string;
  /** Multiplies every rate limit of the application; default 1. */
  readonly rateLimitMultiplier?: number;
}
export interface CreatedClient {
  readonly clientId: string;
  /** The only time that it can be read. */
  readonly clientSecret: string;
  readonly applicationId: string;
  readonly fundIds: readonly string[];
  /** Those that were asked for. */
  readonly scopes?: readonly Scope[];
  readonly onlyFundIds?: readonly string[];
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const NAME = /^[^\p{Cc}]{1,100}$/u;
/** Part of stream names, so without a dot. */
const APPLICATION_ID = /^[A-Za-z0-9_-]{1,64}$/;
const LARGEST_MULTIPLIER = 1000;

/** Gives an integrator access: a client of an application and the funds linked to it. */
export class CreateClient {
  readonly #deps: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
  }

  /** @throws DomainError `validation_error` with every violation, `fund_not_allowed` for a limit to funds that are not linked */
  async execute(input: CreateClientInput): Promise<CreatedClient> {
    const { registry, credentials, clock, formats } = this.#deps;
    const fundIds = uuids(input.fundIds);
    const onlyFundIds = input.onlyFundIds && uuids(input.onlyFundIds);
    requireValid({ ...input, fundIds, ...(onlyFundIds && { onlyFundIds }) });
    if ((onlyFundIds ?? input.scopes) && (await formats.forEarlierRelease())) throw notYetLimited();
    const limits = {
      ...(input.scopes && { scopes: SCOPES.filter((scope) => input.scopes?.includes(scope)) }),
      ...(onlyFundIds && { onlyFundIds }),
    };
    await this.#requireLinked(input.applicationId, fundIds, onlyFundIds ?? []);
    const { clientId, clientSecret, secretHash } = await credentials.issue();
    const application = await registry.create(
      {
        clientId,
        secretHash,
        applicationId: input.applicationId ?? randomUUID(),
        name: input.name.trim(),
        rateLimitMultiplier: input.rateLimitMultiplier ?? 1,
        createdAt: clock.realNow(),
        revokedAt: null,
        ...limits,
      },
      fundIds,
    );
    return { clientId, clientSecret, ...application, ...limits };
  }

  async #requireLinked(
    applicationId: string | undefined,
    fundIds: readonly string[],
    onlyFundIds: readonly string[],
  ): Promise<void> {
    const application =
      applicationId === undefined ? undefined : await this.#deps.registry.application(applicationId);
    const linked = [...fundIds, ...(application?.fundIds ?? [])];
    if (linked.length === 0) throw violated([NO_FUND]);
    const other = onlyFundIds.find((id) => !linked.includes(id));
    if (other === undefined) return;
    throw new DomainError('fund_not_allowed', `only-fund ${other} is not linked to the application`);
  }
}

const uuids = (ids: readonly string[]): readonly string[] => [...new Set(ids.map((id) => id.toLowerCase()))];

const NO_FUND: FieldViolation = {
  field: 'fund',
  code: 'invalid',
  message: 'at least one fund is needed',
};

const notYetLimited = (): DomainError =>
  violated([
    {
      field: 'only_fund',
      code: 'invalid',
      message:
        'processes of release 2026.11.1 may still run, and they know no limits of a client; when none does, run `receivables upgrade finish`, then create the client',
    },
  ]);

const violated = (violations: readonly FieldViolation[]): DomainError =>
  new DomainError('validation_error', violations.map(({ message }) => message).join('; '), violations);

const requireValid = (input: CreateClientInput): void => {
  const violations = [...violationsOf(input)];
  if (violations.length > 0) throw violated(violations);
};

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
  const invalid = (field: string, message: string): FieldViolation => ({ field, code: 'invalid', message });
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
  const invalid = (field: string, message: string): FieldViolation => ({ field, code: 'invalid', message });

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
  const invalid = (message: string): FieldViolation => ({ field: 'scope', code: 'invalid', message });
  for (const scope of scopes ?? []) {
    if (!(SCOPES as readonly string[]).includes(scope)) {
      yield invalid(`scope ${scope} does not exist; there are ${SCOPES.join(', ')}`);
    }
  }
  if (onlyFundIds && scopes?.includes('webhooks')) {
    yield invalid(
      'a client of some funds cannot have the scope webhooks, because webhooks carry events of every fund; give it events',
    );
  }
};
