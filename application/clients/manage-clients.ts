import { DomainError } from '../../domain/shared/domain-error.ts';
import type { RealTime } from '../../domain/shared/identifiers.ts';
import type { Client, ClientChanges, ClientRegistry } from '../ports/clients.ts';
import type { RealClock } from '../ports/clock.ts';
import { requireLimits } from './create-client.ts';

export type ListedClient = Client & { readonly fundIds: readonly string[] };

/** Every client there ever was, revoked ones included, never a secret. */
export class ListClients {
  readonly #registry: ClientRegistry;

  constructor(registry: ClientRegistry) {
    this.#registry = registry;
  }

  async execute(): Promise<readonly ListedClient[]> {
    return this.#registry.list();
  }
}

export interface UpdateClientInput {
  readonly name?: string;
  readonly rateLimitMultiplier?: number;
  /** UUIDs, linked to the client's application and unlinked from it. */
  readonly addFundIds: readonly string[];
  readonly removeFundIds: readonly string[];
}

/** Changes a client and the funds of its application. Processes remember clients for five seconds. @see ClientDirectory */
export class UpdateClient {
  readonly #registry: ClientRegistry;

  constructor(registry: ClientRegistry) {
    this.#registry = registry;
  }

  /**
   * As it is afterwards; undefined when there is no such client that is not revoked.
   * @throws DomainError `validation_error`, or `fund_not_allowed` for a fund that cannot be unlinked
   */
  async execute(clientId: string, input: UpdateClientInput): Promise<ListedClient | undefined> {
    requireLimits(input);
    const clients = await this.#registry.list();
    const client = clients.find((one) => one.clientId === clientId);
    if (!client || client.revokedAt !== null) return undefined;
    const siblings = clients.filter(({ applicationId }) => applicationId === client.applicationId);
    requireUnlinkable(client.fundIds, input, siblings);
    const changes: ClientChanges = {
      ...(input.name !== undefined && { name: input.name.trim() }),
      ...(input.rateLimitMultiplier !== undefined && { rateLimitMultiplier: input.rateLimitMultiplier }),
      linkFundIds: input.addFundIds,
      unlinkFundIds: input.removeFundIds,
    };
    if (!(await this.#registry.update(clientId, changes))) return undefined;
    return (await this.#registry.list()).find((one) => one.clientId === clientId);
  }
}

const refused = (message: string): DomainError => new DomainError('fund_not_allowed', message);

const requireUnlinkable = (
  linked: readonly string[],
  { addFundIds, removeFundIds }: UpdateClientInput,
  clients: readonly ListedClient[],
): void => {
  const stranger = removeFundIds.find((id) => !linked.includes(id));
  if (stranger !== undefined) throw refused(`fund ${stranger} is not linked to the application`);
  const left = [...linked.filter((id) => !removeFundIds.includes(id)), ...addFundIds];
  if (left.length === 0) throw refused('an application needs at least one fund');
  for (const { clientId, onlyFundIds = [], revokedAt } of clients) {
    const needed = onlyFundIds.find((id) => removeFundIds.includes(id) && !addFundIds.includes(id));
    if (revokedAt === null && needed !== undefined)
      throw refused(`client ${clientId} is limited to fund ${needed}: revoke it first`);
  }
};

/** Ends a client's access: no new tokens at once, and its living ones are refused within seconds. @see ClientDirectory */
export class RevokeClient {
  readonly #registry: ClientRegistry;
  readonly #clock: RealClock;

  constructor(registry: ClientRegistry, clock: RealClock) {
    this.#registry = registry;
    this.#clock = clock;
  }

  /** When it was revoked; undefined when there is no such client, or it was revoked before. */
  async execute(clientId: string): Promise<{ readonly revokedAt: RealTime } | undefined> {
    const revokedAt = this.#clock.realNow();
    return (await this.#registry.revoke(clientId, revokedAt)) ? { revokedAt } : undefined;
  }
}
