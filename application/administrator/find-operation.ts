import { DomainError } from '../../domain/shared/domain-error.ts';
import { loanStream } from '../command-handling/operation.ts';
import type { ClientRegistry } from '../ports/clients.ts';
import type { EventStore } from '../ports/event-store.ts';

interface Dependencies {
  readonly registry: Pick<ClientRegistry, 'list'>;
  readonly events: Pick<EventStore, 'head'>;
}

/** Whose operation a code names, for people who have only the code at hand. */
export class FindOperation {
  readonly #deps: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
  }

  /** @throws DomainError `loan_not_found`, or `validation_error` when several applications use the code */
  async applicationOf(code: string): Promise<string> {
    const { registry, events } = this.#deps;
    const known = new Set((await registry.list()).map(({ applicationId }) => applicationId));
    const holders: string[] = [];
    for (const applicationId of known) {
      if ((await events.head(loanStream(applicationId, code))) !== 'no_stream') holders.push(applicationId);
    }
    const [holder] = holders;
    if (holder === undefined) throw new DomainError('loan_not_found', `no operation has the code ${code}`);
    if (holders.length === 1) return holder;
    throw new DomainError(
      'validation_error',
      `${holders.length} applications have an operation ${code}: name one of ${holders.join(', ')}`,
    );
  }
}
