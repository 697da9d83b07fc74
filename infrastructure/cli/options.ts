import { userInfo } from 'node:os';
import { InvalidArgumentError } from 'commander';
import type { App } from '../../application/app.ts';
import { OPERATOR_RULE, isOperator } from '../../application/publication/description/decision-schema.ts';
import { DURATION_RULE, durationOf, instantOf } from '../../application/schemas/values.ts';
import { isFundId } from '../../domain/fund/names.ts';
import { isCalendarDate } from '../../domain/shared/calendar-date.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import { NotAllowedError, WrongUseError } from './command-line.ts';

export const dateOption = (text: string): CalendarDate => {
  if (isCalendarDate(text)) return text;
  throw new InvalidArgumentError('It must be a day that exists, such as 2026-06-30.');
};

export const instantOption = (text: string): string => {
  try {
    return instantOf('time', text);
  } catch {
    throw new InvalidArgumentError('It must be an instant with its zone, such as 2026-06-30T18:00:00Z.');
  }
};

export const numberOption =
  (most: number, least = 0) =>
  (text: string): number => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
    if (value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  };

/** `--limit` of a list. */
export const limitOption = numberOption(1_000_000, 1);

/** A span of time such as 30s, 2m, 12h or 2d, in milliseconds. */
export const spanOption = (text: string): number => {
  const span = durationOf(text);
  if (span !== undefined) return span;
  throw new InvalidArgumentError(`It ${DURATION_RULE}.`);
};

/** An amount in reais such as 1800.00, in cents. */
export const amountInCents = (text: string): number => {
  const [, whole, fraction = ''] = /^(\d{1,13})(?:\.(\d{1,2}))?$/.exec(text) ?? [];
  if (whole !== undefined) return Number(whole) * 100 + Number(fraction.padEnd(2, '0'));
  throw new InvalidArgumentError('It must be an amount such as 1800.00.');
};

export const collect = (value: string, previous: readonly string[] = []): readonly string[] => [
  ...previous,
  value,
];

export const collectOf =
  <Name extends string>(names: readonly Name[]) =>
  (text: string, previous: readonly Name[] = []): readonly Name[] => {
    const name = names.find((candidate) => candidate === text);
    if (name !== undefined) return [...previous, name];
    throw new InvalidArgumentError(`It must be one of ${names.join(', ')}.`);
  };

export const collectFunds = (value: string, previous: readonly string[] = []): readonly string[] => {
  const id = value.toLowerCase();
  if (isFundId(id)) return collect(id, previous);
  throw new InvalidArgumentError('It must be a UUID.');
};

const namedBySystem = (): string => {
  try {
    return userInfo().username.trim();
  } catch {
    // A container may run as a number that no user has.
    return '';
  }
};

/** Who runs this command, as the operating system says it. */
export const userOfSystem = (name: string = namedBySystem()): string =>
  isOperator(name) ? name : `uid ${process.getuid?.() ?? 'unknown'}`;

export const operatorOption = (text: string): string => {
  const name = text.trim();
  if (isOperator(name)) return name;
  throw new InvalidArgumentError(`It ${OPERATOR_RULE}.`);
};

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
