/**
 * One address for each server that `postgres://user:password@a:5432,b:5432/db` names; whichever of them takes writes is the primary.
 * Nothing but the hosts differs between them.
 */
export const eachServer = (url: string): readonly string[] => {
  const from = url.indexOf('://') + 3;
  const [authority = ''] = url.slice(from).split(/[/?#]/, 1);
  const hostsAt = from + authority.lastIndexOf('@') + 1;
  const end = from + authority.length;
  const hosts = url.slice(hostsAt, end).split(',');
  return hosts.map((host) => url.slice(0, hostsAt) + host + url.slice(end));
};

/** What libpq calls it; the service writes, so no other answer to the question which server to take makes sense. */
const WRITABLE: ReadonlySet<string> = new Set(['read-write', 'primary']);

/** The driver writes out what is not encoded, and takes a user without a host for one at a socket that `host` names. */
const canBeRead = (server: string): boolean =>
  [server, encodeURI(server), server.replace('@/', '@socket/')].some((text) => URL.canParse(text));

/** Why no service can work at this address; undefined when it can. */
export const flawOf = (url: string): string | undefined => {
  if (!/^postgres(ql)?:\/\//.test(url)) return 'must start with postgres:// or postgresql://';
  const servers = eachServer(url);
  if (servers.length > 1 && !servers.every((server) => (URL.parse(server)?.host ?? '') !== ''))
    return 'names several servers, and one of them is empty or cannot be read: write postgres://user:password@a:5432,b:5432/db';
  if (!servers.every(canBeRead))
    return 'cannot be read: write postgres://user:password@host:5432/database, user and password percent-encoded';
  const asked = URL.parse(servers[0]!)?.searchParams.get('target_session_attrs') ?? 'read-write';
  return WRITABLE.has(asked) ? undefined : 'must leave target_session_attrs out, or say read-write';
};
