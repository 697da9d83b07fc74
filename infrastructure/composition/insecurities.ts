import { eachServer } from '../postgres/addresses.ts';
import { ConfigurationError } from './environment-reader.ts';
import type { EnvironmentReader } from './environment-reader.ts';

const INSECURITIES = ['public-url', 'eventstore', 'kafka', 'database', 'files', 'console'] as const;
type Insecurity = (typeof INSECURITIES)[number];

/** @throws ConfigurationError */
export const readAllowInsecure = (variables: EnvironmentReader): readonly Insecurity[] => {
  if (variables.text('ALLOW_INSECURE') === undefined) return Object.freeze([]);
  const named = variables.list('ALLOW_INSECURE', '');
  const unknown = named.find((name) => !(INSECURITIES as readonly string[]).includes(name));
  if (unknown !== undefined) {
    throw variables.invalid('ALLOW_INSECURE', `must be a comma list of ${INSECURITIES.join(', ')}`);
  }
  return Object.freeze(INSECURITIES.filter((name) => named.includes(name)));
};

interface Settings {
  readonly environment: 'sandbox' | 'production';
  readonly allowInsecure: readonly Insecurity[];
}
interface EngineSettings extends Settings {
  readonly engines: { readonly eventStoreUrl: string | undefined; readonly databaseUrl: string | undefined };
  readonly kafka: { readonly brokers: readonly string[]; readonly tls: boolean } | undefined;
}

export const isAllowed = ({ environment, allowInsecure }: Settings, insecurity: Insecurity): boolean =>
  environment !== 'production' || allowInsecure.includes(insecurity);

const refused = (variable: string, why: string, insecurity: Insecurity): ConfigurationError =>
  new ConfigurationError(`${variable} ${why}, or name ${insecurity} in ALLOW_INSECURE`);

const LOOPBACK = /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i;

/** Traffic that stays on this machine needs no protection; a path names a socket on it. */
export const isLoopback = (host: string): boolean => LOOPBACK.test(host) || host.startsWith('/');

/**
 * In production the operator names the addresses that clients see, and they use TLS.
 * @throws ConfigurationError
 */
export const refuseOpenAddresses = (settings: Settings, variables: EnvironmentReader): void => {
  if (settings.environment !== 'production') return;
  for (const name of ['PUBLIC_URL', 'AUTH_URL']) {
    const text = variables.text(name);
    if (text === undefined) {
      throw variables.invalid(
        name,
        'is required in production: the address that clients see, which tokens name, such as https://api.example.com',
      );
    }
    const { protocol, hostname } = new URL(text);
    if (protocol === 'https:' || isLoopback(hostname) || isAllowed(settings, 'public-url')) continue;
    throw refused(name, 'must start with https:// in production, because tokens travel there', 'public-url');
  }
};

const hostOf = (address: string): string => address.replace(/:\d+$/, '');

const allLoopback = (hosts: readonly string[]): boolean => hosts.every((host) => isLoopback(hostOf(host)));

/** `esdb://user:password@host:port,host:port/?tls=false`: TLS is on unless it is switched off. */
const isOpenEventStore = (url: string): boolean => {
  const [authority = ''] = url.slice(url.indexOf('://') + 3).split(/[/?]/, 1);
  const hosts = authority.slice(authority.lastIndexOf('@') + 1).split(',');
  return /[?&]tls([_-]?verify[_-]?cert)?=false(&|$)/i.test(url) && !allLoopback(hosts);
};

/** The driver encrypts for these values only; `no-verify` would take any certificate. */
const ENCRYPTED = /^(require|verify-ca|verify-full)$/;

const isOpenServer = (url: string): boolean => {
  const place = URL.parse(url);
  // An address that cannot be read is refused by the driver.
  if (place === null) return false;
  const host = place.searchParams.get('host') ?? decodeURIComponent(place.hostname);
  if (host === '' || isLoopback(host)) return false;
  return !ENCRYPTED.test(place.searchParams.get('sslmode') ?? '');
};

/**
 * In production engines on other machines are reached over TLS.
 * @throws ConfigurationError
 */
export const refuseOpenEngines = (configuration: EngineSettings): void => {
  const { engines, kafka } = configuration;
  const isRefused = (insecurity: Insecurity, isOpen: boolean): boolean =>
    isOpen && !isAllowed(configuration, insecurity);
  const { eventStoreUrl, databaseUrl } = engines;
  if (isRefused('eventstore', eventStoreUrl !== undefined && isOpenEventStore(eventStoreUrl))) {
    throw refused(
      'EVENTSTORE_URL',
      'must not switch TLS off in production: say tls=true and verify its certificate',
      'eventstore',
    );
  }
  if (isRefused('kafka', kafka !== undefined && !kafka.tls && !allLoopback(kafka.brokers))) {
    throw refused('KAFKA_TLS', 'must be true in production', 'kafka');
  }
  if (isRefused('database', databaseUrl !== undefined && eachServer(databaseUrl).some(isOpenServer))) {
    throw refused('DATABASE_URL', 'must ask for TLS in production: say sslmode=verify-full', 'database');
  }
};
