import { randomUUID } from 'node:crypto';
import { DomainError } from '../../domain/shared/domain-error.ts';
import type { FieldViolation } from '../../domain/shared/domain-error.ts';
import type { RealTime } from '../../domain/shared/identifiers.ts';
import { SCOPES } from './scopes.ts';
import { applicationsIn } from './client-registry.ts';
import type {
  Client,
  ClientChanges,
  ClientRegistry,
  ClientWithSecret,
  ListedClient,
} from './client-registry.ts';
import type { RealClock } from '../ports/clock.ts';
import type { StoredFormats } from '../event-codec/stored-formats.ts';
import type { SigningKeys } from './tokens.ts';

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

interface Dependencies {
  readonly registry: ClientRegistry;
  /** Makes credentials that cannot be guessed, written with letters, digits, `-` and `_` only. */
  readonly issue: () => Promise<
    Pick<ClientWithSecret, 'clientId' | 'secretHash'> & {
      readonly clientSecret: string;
    }
  >;
  readonly clock: RealClock;
  readonly formats: Pick<StoredFormats, 'forEarlierRelease'>;
  readonly signingKeys: SigningKeys;
}

export class Clients {
  readonly signingKeys: SigningKeys;
  readonly #deps: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
    this.signingKeys = dependencies.signingKeys;
  }

  /** Every client there ever was, revoked ones included, never a secret. */
  async list(): Promise<readonly ListedClient[]> {
    return this.#deps.registry.list();
  }

  applications(): Promise<readonly string[]> {
    return applicationsIn(this.#deps.registry);
  }

  async funds(): Promise<readonly string[]> {
    return [...new Set((await this.list()).flatMap(({ fundIds }) => fundIds))].toSorted();
  }

  /** What each application is called: as its first client was that still has access, or its first where none has. */
  async applicationNames(): Promise<ReadonlyMap<string, string>> {
    const clients = Map.groupBy(await this.list(), ({ applicationId }) => applicationId);
    return new Map(
      [...clients].map(([id, own]) => [
        id,
        (own.find(({ revokedAt }) => revokedAt === null) ?? own[0]!).name,
      ]),
    );
  }

  async namesOf(actors: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const { registry } = this.#deps;
    const clients = await Promise.all([...new Set(actors)].map((actor) => registry.find(actor)));
    return new Map(clients.flatMap((client) => (client ? [[client.clientId, client.name] as const] : [])));
  }

  /** Its secret is shown once. @throws DomainError `validation_error` with every violation, `fund_not_allowed` */
  async create(input: CreateClientInput) {
    const { registry, issue, clock, formats } = this.#deps;
    const fundIds = uuids(input.fundIds);
    const onlyFundIds = input.onlyFundIds && uuids(input.onlyFundIds);
    requireNone(violationsOf({ ...input, fundIds, ...(onlyFundIds && { onlyFundIds }) }));
    if ((onlyFundIds ?? input.scopes) && (await formats.forEarlierRelease())) requireNone([NOT_YET_LIMITED]);
    const limits = {
      ...(input.scopes && { scopes: SCOPES.filter((scope) => input.scopes?.includes(scope)) }),
      ...(onlyFundIds && { onlyFundIds }),
    };
    await this.#requireLinked(input.applicationId, fundIds, onlyFundIds ?? []);
    const { clientId, clientSecret, secretHash } = await issue();
    const applicationId = input.applicationId ?? randomUUID();
    const linked = await registry.create(
      {
        clientId,
        secretHash,
        applicationId,
        name: input.name.trim(),
        rateLimitMultiplier: input.rateLimitMultiplier ?? 1,
        createdAt: clock.realNow(),
        revokedAt: null,
        ...limits,
      },
      fundIds,
    );
    return { clientId, clientSecret, applicationId, fundIds: linked, ...limits };
  }

  /** Undefined: no such client that is not revoked. @see ClientDirectory @throws DomainError as `create` */
  async update(clientId: string, input: ClientChanges): Promise<ListedClient | undefined> {
    requireNone(limitViolations(input));
    const { registry } = this.#deps;
    const clients = await registry.list();
    const client = clients.find((one) => one.clientId === clientId);
    if (!client || client.revokedAt !== null) return undefined;
    const siblings = clients.filter(({ applicationId }) => applicationId === client.applicationId);
    requireUnlinkable(client.fundIds, input, siblings);
    const changes = { ...input, ...(input.name !== undefined && { name: input.name.trim() }) };
    if (!(await registry.update(clientId, changes))) return undefined;
    return (await registry.list()).find((one) => one.clientId === clientId);
  }

  /** Living tokens are refused within seconds. @see ClientDirectory @returns when; undefined: there is nothing to revoke */
  async revoke(clientId: string): Promise<{ readonly revokedAt: RealTime } | undefined> {
    const revokedAt = this.#deps.clock.realNow();
    return (await this.#deps.registry.revoke(clientId, revokedAt)) ? { revokedAt } : undefined;
  }

  async #requireLinked(
    applicationId: string | undefined,
    fundIds: readonly string[],
    onlyFundIds: readonly string[],
  ): Promise<void> {
    const application =
      applicationId === undefined ? undefined : await this.#deps.registry.application(applicationId);
    const linked = [...fundIds, ...(application?.fundIds ?? [])];
    if (linked.length === 0) requireNone([NO_FUND]);
    const other = onlyFundIds.find((id) => !linked.includes(id));
    if (other === undefined) return;
    throw notAllowed(`only-fund ${other} is not linked to the application`);
  }
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const NAME = /^[^\p{Cc}]{1,100}$/u;
/** Part of stream names, so without a dot. */
const APPLICATION_ID = /^[A-Za-z0-9_-]{1,64}$/;
const LARGEST_MULTIPLIER = 1000;

const invalid = (field: string, message: string): FieldViolation => ({ field, code: 'invalid', message });

const NO_FUND = invalid('fund', 'at least one fund is needed');
const NOT_YET_LIMITED = invalid(
  'only_fund',
  'processes of release 2026.11.1 may still run, and they know no limits of a client; when none does, run `receivables upgrade finish`, then create the client',
);

/** @throws DomainError `validation_error` with all of them */
const requireNone = (violations: Iterable<FieldViolation>): void => {
  const all = [...violations];
  if (all.length > 0)
    throw new DomainError('validation_error', all.map(({ message }) => message).join('; '), all);
};

/** What holds for a name and a multiplier whenever they are given. */
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
const requireUnlinkable = (
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

const uuids = (ids: readonly string[]): readonly string[] => [...new Set(ids.map((id) => id.toLowerCase()))];
