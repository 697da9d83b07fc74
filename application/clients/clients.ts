import { randomUUID } from 'node:crypto';
import { DomainError } from '../../domain/shared/domain-error.ts';
import type { RealTime } from '../../domain/shared/identifiers.ts';
import { SCOPES } from './scopes.ts';
import { applicationsIn } from './client-registry.ts';
import type { ClientChanges, ClientRegistry, ClientWithSecret, ListedClient } from './client-registry.ts';
import type { RealClock } from '../ports/clock.ts';
import type { StoredFormats } from '../event-codec/stored-formats.ts';
import type { SigningKeys } from './tokens.ts';
import type { CreateClientInput } from './client-rules.ts';
import {
  NO_FUND,
  notYetLimited,
  requireLimits,
  requireUnlinkable,
  requireValid,
  violated,
} from './client-rules.ts';

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
    requireValid({ ...input, fundIds, ...(onlyFundIds && { onlyFundIds }) });
    if ((onlyFundIds ?? input.scopes) && (await formats.forEarlierRelease())) throw notYetLimited();
    const limits = {
      ...(input.scopes && { scopes: SCOPES.filter((scope) => input.scopes?.includes(scope)) }),
      ...(onlyFundIds && { onlyFundIds }),
    };
    await this.#requireLinked(input.applicationId, fundIds, onlyFundIds ?? []);
    const { clientId, clientSecret, secretHash } = await issue();
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

  /** Undefined: no such client that is not revoked. @see ClientDirectory @throws DomainError as `create` */
  async update(clientId: string, input: ClientChanges): Promise<ListedClient | undefined> {
    requireLimits(input);
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
    if (linked.length === 0) throw violated([NO_FUND]);
    const other = onlyFundIds.find((id) => !linked.includes(id));
    if (other === undefined) return;
    throw new DomainError('fund_not_allowed', `only-fund ${other} is not linked to the application`);
  }
}

const uuids = (ids: readonly string[]): readonly string[] => [...new Set(ids.map((id) => id.toLowerCase()))];
