import { readFileSync } from 'node:fs';
import type { ChannelCredentials } from '@grpc/grpc-js';
import { credentials as grpcCredentials } from '@grpc/grpc-js';

export interface ConnectionSettings {
  /** `host:port` of each. */
  readonly hosts: readonly string[];
  /** Ask the hosts who leads; a single host is taken for the server itself. */
  readonly discover: boolean;
  readonly channel: ChannelCredentials;
  /** The value of the header that tells who calls; none without TLS, which would give the password away. */
  readonly authorization: string | undefined;
  readonly connectionName: string;
  readonly keepAliveIntervalMs: number;
  readonly keepAliveTimeoutMs: number;
  readonly gossipTimeoutMs: number;
}

const SHAPE = /^esdb(\+discover)?:\/\/(?:([^:@/]+):([^@/]*)@)?([^/?@]+)\/*(?:\?(.*))?$/;
const HOST = /^\[[0-9a-f:.]+\](?::\d+)?$|^[^\s:,[\]]+(?::\d+)?$/i;
const DEFAULT_PORT = 2113;
const DEFAULT_KEEP_ALIVE_MS = 10_000;
const DEFAULT_GOSSIP_TIMEOUT_S = 5;

/** Options of the connection string that mean something here, and those of other clients that do not. */
const KNOWN = new Set(
  [
    ['tls', 'tlsVerifyCert', 'tlsCAFile', 'userCertFile', 'userKeyFile'],
    ['connectionName', 'keepAliveInterval', 'keepAliveTimeout', 'gossipTimeout'],
    ['nodePreference', 'maxDiscoverAttempts', 'discoveryInterval', 'defaultDeadline', 'throwOnAppendFailure'],
  ]
    .flat()
    .map((name) => name.toLowerCase()),
);

const optionsOf = (query: string | undefined): ReadonlyMap<string, string> => {
  const options = new Map<string, string>();
  for (const [name, value] of new URLSearchParams((query ?? '').replaceAll('+', '%2B'))) {
    const key = name.toLowerCase().replace(/[_-]/g, '');
    if (!KNOWN.has(key)) throw new Error(`the EventStoreDB connection string has an unknown option ${name}`);
    options.set(key, value);
  }
  if (options.get('throwonappendfailure') === 'false')
    throw new Error('throwOnAppendFailure=false has no meaning here: leave it out');
  return options;
};

const numberOf = (options: ReadonlyMap<string, string>, name: string, fallback: number): number => {
  const text = options.get(name.toLowerCase());
  if (text === undefined) return fallback;
  if (!/^-?\d{1,9}$/.test(text))
    throw new Error(`${name} in the EventStoreDB connection string has to be a whole number`);
  return Number(text);
};

const contentsOf = (options: ReadonlyMap<string, string>, name: string): Buffer | null => {
  const path = options.get(name.toLowerCase());
  if (path === undefined) return null;
  try {
    return readFileSync(path);
  } catch {
    throw new Error(`the ${name} of the EventStoreDB connection string cannot be read: ${path}`);
  }
};

const secure = (options: ReadonlyMap<string, string>): ChannelCredentials => {
  const [certificate, key] = [contentsOf(options, 'userCertFile'), contentsOf(options, 'userKeyFile')];
  if ((certificate === null) !== (key === null))
    throw new Error('the EventStoreDB connection string needs userCertFile and userKeyFile, or neither');
  return grpcCredentials.createSsl(contentsOf(options, 'tlsCAFile'), key, certificate);
};

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    throw unusable();
  }
};

const unusable = (): Error =>
  new Error('the EventStoreDB connection string has to look like esdb://host:2113?tls=true');

/** @throws Error it cannot be used; its text is not repeated, for it may hold a password */
export const parseConnectionString = (url: string): ConnectionSettings => {
  const [, discover, user, password = '', list = '', query] = SHAPE.exec(url.trim()) ?? [];
  const hosts = list.split(',').map((host) => host.trim());
  if (!hosts.every((host) => HOST.test(host))) throw unusable();
  const options = optionsOf(query);
  const withTls = options.get('tls') !== 'false';
  const basic = `${decoded(user ?? '')}:${decoded(password)}`;
  return {
    hosts: hosts.map((host) => (/:\d+$/.test(host) ? host : `${host}:${DEFAULT_PORT}`)),
    discover: discover !== undefined || hosts.length > 1,
    channel: withTls ? secure(options) : grpcCredentials.createInsecure(),
    authorization:
      withTls && user !== undefined ? `Basic ${Buffer.from(basic).toString('base64')}` : undefined,
    connectionName: options.get('connectionname') ?? 'receivables',
    keepAliveIntervalMs: numberOf(options, 'keepAliveInterval', DEFAULT_KEEP_ALIVE_MS),
    keepAliveTimeoutMs: numberOf(options, 'keepAliveTimeout', DEFAULT_KEEP_ALIVE_MS),
    gossipTimeoutMs: numberOf(options, 'gossipTimeout', DEFAULT_GOSSIP_TIMEOUT_S) * 1_000,
  };
};
