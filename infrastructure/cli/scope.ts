import type { App } from '../../application/app.ts';
import { NotAllowedError, WrongUseError } from './command-line.ts';

type Known = Pick<App, 'clients' | 'loans'>;

/**
 * The application that an id or the name of any of its clients means.
 * @throws NotAllowedError there is none @throws WrongUseError several have a client of this name
 */
export const applicationOf = async (services: Pick<Known, 'clients'>, idOrName: string): Promise<string> => {
  const clients = await services.clients.list();
  if (clients.some(({ applicationId }) => applicationId === idOrName)) return idOrName;
  const named = clients.filter(({ name }) => name === idOrName);
  const [first, ...others] = [...new Set(named.map(({ applicationId }) => applicationId))];
  if (first === undefined)
    throw new NotAllowedError(`no application has the id ${idOrName}, or a client of that name`);
  if (others.length > 0)
    throw new WrongUseError(
      `${others.length + 1} applications have a client named ${idOrName}: name one of ${[first, ...others].join(', ')}`,
    );
  return first;
};

/** The application that was named, otherwise the only one that has an operation of this code. */
export const applicationWith = (services: Known, code: string, named: string | undefined): Promise<string> =>
  named === undefined ? services.loans.applicationOf(code) : applicationOf(services, named);

/** @throws NotAllowedError no application is linked to it, and it holds no operation */
export const requireFund = async (services: Pick<Known, 'loans'>, fundId: string): Promise<void> => {
  if (!(await services.loans.knowsFund(fundId)))
    throw new NotAllowedError(`no application is linked to the fund ${fundId}, and it holds no operation`);
};

export interface Scope {
  readonly application?: string;
  readonly fund?: string;
}

/** What `--application` and `--fund` mean, both known to exist. */
export const scopeOf = async (
  services: Known,
  { application, fund }: Scope,
): Promise<{ readonly applicationId?: string; readonly fundId?: string }> => {
  if (fund !== undefined) await requireFund(services, fund);
  return {
    ...(application !== undefined && { applicationId: await applicationOf(services, application) }),
    ...(fund !== undefined && { fundId: fund }),
  };
};
