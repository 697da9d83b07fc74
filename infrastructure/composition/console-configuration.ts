import { DESK_ROLES } from '../../application/desk/rights.ts';
import type { RoleRule } from '../../application/desk/people.ts';
import { isFundId } from '../../domain/fund/names.ts';
import { WrongUseError } from '../cli/command-line.ts';
import type { OpenConsole } from '../cli/command-line.ts';
import { readMetricsAddress } from './configuration.ts';
import { EnvironmentReader } from './environment-reader.ts';
import { isLoopback, readAllowInsecure } from './insecurities.ts';

const ISSUER = 'CONSOLE_OIDC_ISSUER';
const CLIENT_ID = 'CONSOLE_OIDC_CLIENT_ID';
const SECRET = 'CONSOLE_OIDC_CLIENT_SECRET';
const SECRET_FILE = 'CONSOLE_OIDC_CLIENT_SECRET_FILE';
const ROLES_CLAIM = 'CONSOLE_OIDC_ROLES_CLAIM';
const ROLES = 'CONSOLE_OIDC_ROLES';
const PUBLIC_URL = 'CONSOLE_PUBLIC_URL';

/** What the environment decides of the console, and of it alone. @throws ConfigurationError one line that names the variable */
export const readConsoleConfiguration = (environment: Readonly<Record<string, string | undefined>>) => {
  const variables = new EnvironmentReader(environment);
  const mayBeOpen = readAllowInsecure(variables).includes('console');
  const signIn = readSignIn(variables);
  const publicUrl = readPublicUrl(variables, { mayBeOpen, signsIn: signIn !== undefined });
  if (signIn && publicUrl === undefined)
    throw variables.invalid(PUBLIC_URL, `is required with ${ISSUER}: the provider sends people back there`);
  // Undefined where nobody signs in, or no port was named: the usual one is the service's.
  const metrics =
    signIn && variables.text('METRICS_PORT') !== undefined ? readMetricsAddress(variables) : undefined;
  return Object.freeze({ publicUrl, signIn, metrics, mayBeOpen });
};
export type ConsoleConfiguration = ReturnType<typeof readConsoleConfiguration>;

/**
 * What was asked for on the command line has to fit it.
 * @throws WrongUseError
 */
export const refuseOpenConsole = (
  { signIn, mayBeOpen }: ConsoleConfiguration,
  { host, operator }: Pick<OpenConsole, 'host' | 'operator'>,
): void => {
  if (signIn && operator !== undefined)
    throw new WrongUseError(
      `--operator says nothing where people sign in: each decides in their own name, as ${ISSUER} says it`,
    );
  if (signIn || mayBeOpen || isLoopback(host)) return;
  throw new WrongUseError(
    `--host ${host} lets other machines in without sign-in: set ${ISSUER}, listen on 127.0.0.1, or name console in ALLOW_INSECURE`,
  );
};

const readPublicUrl = (
  variables: EnvironmentReader,
  { mayBeOpen, signsIn }: { readonly mayBeOpen: boolean; readonly signsIn: boolean },
): string | undefined => {
  if (variables.text(PUBLIC_URL) === undefined) return undefined;
  const { protocol, hostname, pathname, origin } = new URL(variables.baseUrl(PUBLIC_URL, ''));
  if (pathname !== '/')
    throw variables.invalid(PUBLIC_URL, 'must end with its host or port: the console has no path in front');
  if (mayBeOpen || isLoopback(hostname)) return origin;
  if (protocol !== 'https:')
    throw variables.invalid(
      PUBLIC_URL,
      'must start with https://, because sessions travel there, or name console in ALLOW_INSECURE',
    );
  if (!signsIn)
    throw variables.invalid(
      PUBLIC_URL,
      `lets other machines in without sign-in: set ${ISSUER}, or name console in ALLOW_INSECURE`,
    );
  return origin;
};

const readSignIn = (variables: EnvironmentReader) => {
  const issuer = variables.text(ISSUER);
  const clientId = variables.text(CLIENT_ID);
  if (issuer === undefined) {
    const idle = [CLIENT_ID, SECRET, SECRET_FILE, ROLES_CLAIM, ROLES].find(
      (name) => variables.text(name) !== undefined,
    );
    if (idle !== undefined) throw variables.invalid(idle, `says nothing without ${ISSUER}`);
    return undefined;
  }
  const { protocol, hostname } = new URL(variables.baseUrl(ISSUER, ''));
  if (protocol !== 'https:' && !isLoopback(hostname))
    throw variables.invalid(ISSUER, 'must start with https://, or be on this machine');
  if (clientId === undefined) throw variables.invalid(CLIENT_ID, `is required with ${ISSUER}`);
  return Object.freeze({
    issuer,
    clientId,
    // Undefined: a public client.
    clientSecret: readSecret(variables),
    roles: Object.freeze({ claim: readClaim(variables), rules: readRules(variables) }),
  });
};

const readSecret = (variables: EnvironmentReader): string | undefined => {
  const [secret, file] = [variables.text(SECRET), variables.secretFile(SECRET_FILE)];
  if (secret !== undefined && file !== undefined)
    throw variables.invalid(SECRET, `must not be set beside ${SECRET_FILE}: keep one of them`);
  return secret ?? file;
};

const readClaim = (variables: EnvironmentReader): string => {
  const claim = variables.text(ROLES_CLAIM) ?? 'roles';
  if (claim.split('.').some((name) => name.trim() !== name || name === ''))
    throw variables.invalid(
      ROLES_CLAIM,
      'must be the name of a claim, with a dot before each name inside it, such as realm_access.roles',
    );
  return claim;
};

const readRules = (variables: EnvironmentReader): readonly RoleRule[] => {
  if (variables.text(ROLES) === undefined) return Object.freeze([]);
  return Object.freeze(variables.list(ROLES, '').map((text) => ruleOf(variables, text)));
};

const ruleOf = (variables: EnvironmentReader, text: string): RoleRule => {
  const [, name, value = '', funds] = /^([^=]*)=(.*?)(?:@([^@]*))?$/.exec(text) ?? [];
  const role = DESK_ROLES.find((one) => one === name);
  if (role === undefined || value.trim() === '')
    throw variables.invalid(
      ROLES,
      `must be a comma list such as maker=desk,auditor=audit@FUND+FUND, with the roles ${DESK_ROLES.join(', ')}, not ${JSON.stringify(text.slice(0, 100))}`,
    );
  if (funds === undefined) return { role, value: value.trim() };
  const ids = funds.split('+').map((id) => id.trim().toLowerCase());
  const strange = ids.find((id) => !isFundId(id));
  if (strange !== undefined)
    throw variables.invalid(
      ROLES,
      `must have ids of funds behind @, with + between them, not ${JSON.stringify(strange.slice(0, 100))}`,
    );
  return { role, value: value.trim(), funds: [...new Set(ids)] };
};
