import type { App } from '../../application/app.ts';
import { isFundId } from '../../domain/fund/names.ts';
import { NotAllowedError, WrongUseError } from './command-line.ts';

type Known = Pick<App, 'clients' | 'funds' | 'loans'>;

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

export const FUND_OPTION = '--fund <id|name>';

export const ONLY_APPLICATION = [
  '--application <id|name>',
  'only of this application (an id, or the name of one of its clients)',
] as const;

export const WHOSE_OPERATION = [
  '--application <id|name>',
  'whose operation; needed when several applications use the code',
] as const;

/** The fund that an id or an exact name means. @throws NotAllowedError there is none */
export const fundOf = async ({ funds }: Pick<Known, 'funds'>, idOrName: string): Promise<string> => {
  const found = await funds.find(idOrName);
  if (found !== undefined) return found;
  throw new NotAllowedError(
    isFundId(idOrName.toLowerCase())
      ? `no application is linked to the fund ${idOrName.toLowerCase()}, and it holds no operation`
      : `no fund has the id or the name ${idOrName}`,
  );
};

export interface Scope {
  readonly application?: string | undefined;
  readonly fund?: string | undefined;
}

/** What `--application` and `--fund` mean, both known to exist. */
export const scopeOf = async (
  services: Known,
  { application, fund }: Scope,
): Promise<{ readonly applicationId?: string; readonly fundId?: string }> => {
  const fundId = fund === undefined ? undefined : await fundOf(services, fund);
  return {
    ...(application !== undefined && { applicationId: await applicationOf(services, application) }),
    ...(fundId !== undefined && { fundId }),
  };
};
