import { DomainError } from '../../domain/shared/domain-error.ts';
import { loanStream } from '../command-handling/operation.ts';
import { applicationsIn } from '../clients/client-registry.ts';
import type { ClientRegistry } from '../clients/client-registry.ts';
import type { EventStore } from '../ports/event-store.ts';

interface Dependencies {
  readonly registry: Pick<ClientRegistry, 'list'>;
  readonly events: Pick<EventStore, 'head'>;
}

/** Whose operation a code names, for people who have only the code at hand. @throws DomainError `loan_not_found`, or `validation_error` when several applications use the code */
export const applicationOf = async (deps: Dependencies, code: string): Promise<string> => {
  const holders = await holdersOf(deps, code);
  const [holder] = holders;
  if (holder === undefined) throw unknownCode(code);
  if (holders.length === 1) return holder;
  throw new DomainError(
    'validation_error',
    `${holders.length} applications have an operation ${code}: name one of ${holders.join(', ')}`,
  );
};

/** @throws DomainError `loan_not_found` where this application, or any where none is named, has no operation of this code */
export const requireKnown = async (
  deps: Dependencies,
  code: string,
  applicationId: string | undefined,
): Promise<void> => {
  if (
    applicationId === undefined
      ? (await holdersOf(deps, code)).length > 0
      : await has(deps, applicationId, code)
  )
    return;
  throw unknownCode(code, applicationId);
};

const holdersOf = async (deps: Dependencies, code: string): Promise<readonly string[]> => {
  const holders: string[] = [];
  for (const applicationId of await applicationsIn(deps.registry))
    if (await has(deps, applicationId, code)) holders.push(applicationId);
  return holders;
};

const has = async ({ events }: Dependencies, applicationId: string, code: string): Promise<boolean> =>
  (await events.head(loanStream(applicationId, code))) !== 'no_stream';

const unknownCode = (code: string, applicationId?: string): DomainError =>
  new DomainError(
    'loan_not_found',
    `no operation${applicationId === undefined ? '' : ` of application ${applicationId}`} has the code ${code}`,
  );
