import { DomainError } from '../../domain/shared/domain-error.ts';
import type { ClientChanges, ClientRegistry } from '../ports/clients.ts';
import { requireLimits } from './create-client.ts';
import type { ListedClient } from './list-clients.ts';

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
