import { EventStoreDBClient } from '@eventstore/db-client';
import { within } from './failures.ts';

export type Purpose = 'appends' | 'reads' | 'subscriptions';

/** Milliseconds; the client warns about less than the first. */
const KEEP_ALIVE: Readonly<Record<Purpose, number>> = {
  appends: 10_000,
  reads: 10_001,
  subscriptions: 10_002,
};

const DISPOSAL_MS = 1_000;

const withParameter = (url: string, name: string, value: string): string => {
  const given = new RegExp(`[?&]${name.split('').join('[_-]?')}=`, 'i').test(url);
  return given ? url : `${url.replace(/(?<!\/)\/+$/, '')}${url.includes('?') ? '&' : '?'}${name}=${value}`;
};

/**
 * Makes the client append by calls of their own with a deadline, which it does on its own only where a server is too old for
 * anything else. The way that it prefers keeps the waiting appends of all clients of a process in one map: a failure of any
 * connection rejects the appends of every other one, and the answer of a healthy server to one of those ends the process. It also
 * first asks for the server's features, without a deadline, and remembers for ever when that failed.
 */
const appendByOwnCalls = (client: EventStoreDBClient): EventStoreDBClient =>
  Object.assign(client, { supports: () => Promise.resolve(false) });

/**
 * A client for one purpose; it connects when first used, and again after a connection is lost.
 *
 * @throws Error the connection string cannot be used; its text is not repeated, for it may hold a password
 */
export const connect = (url: string, purpose: Purpose): EventStoreDBClient => {
  if (/throw[_-]?on[_-]?append[_-]?failure=false/i.test(url))
    throw new Error('throwOnAppendFailure=false makes the client answer wrong revisions: leave it out');
  // Clients with equal settings share a connection, and subscriptions would take the places of appends there. This one differs.
  const named = withParameter(url, 'connectionName', `receivables-${purpose}`);
  const own = withParameter(named, 'keepAliveInterval', String(KEEP_ALIVE[purpose]));
  let client: EventStoreDBClient;
  try {
    client = EventStoreDBClient.connectionString(own);
  } catch {
    throw new Error('the EventStoreDB connection string has to look like esdb://host:2113?tls=true');
  }
  return appendByOwnCalls(client);
};

/** Ends what is under way and closes the connection, which the client alone would leave open. */
export const disconnect = async (client: EventStoreDBClient): Promise<void> => {
  await within(client.dispose(), DISPOSAL_MS, 'leaving EventStoreDB').catch(() => undefined);
  const { getChannel } = client as unknown as { getChannel: () => Promise<{ close(): void }> };
  await getChannel().then(
    (channel) => channel.close(),
    () => undefined,
  );
};
