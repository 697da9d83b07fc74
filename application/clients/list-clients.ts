import type { Client, ClientRegistry } from '../ports/clients.ts';

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
