import { ROLES } from './configuration.ts';
import type { Configuration, Role } from './configuration.ts';
import { ConfigurationError } from './environment-reader.ts';

/** Who reads or writes the streams. Webhooks are fed from the bus alone. */
const AT_THE_STREAMS: readonly Role[] = ['api', 'projector', 'relay', 'scheduler'];
/** Who hands events over the bus to whom. */
const AT_THE_BUS: readonly Role[] = ['relay', 'webhooks'];

/** Some of them run here and the others must run elsewhere. */
const split = (roles: readonly Role[], together: readonly Role[]): boolean => {
  const here = together.filter((role) => roles.includes(role)).length;
  return here > 0 && here < together.length;
};

/**
 * Roles that run in different processes meet over engines that all of them reach; what is embedded belongs to one process.
 * @throws ConfigurationError
 */
export const refuseSplitRoles = ({ roles, engines }: Configuration): void => {
  const elsewhere = ROLES.filter((role) => !roles.includes(role)).join(', ');
  if (elsewhere === '') return;
  const missing = [
    ...(engines.databaseUrl === undefined ? ['DATABASE_URL'] : []),
    ...(engines.eventStoreUrl === undefined && split(roles, AT_THE_STREAMS) ? ['EVENTSTORE_URL'] : []),
    ...(engines.kafkaBrokers === undefined && split(roles, AT_THE_BUS) ? ['KAFKA_BROKERS'] : []),
  ];
  if (missing.length === 0) return;
  throw new ConfigurationError(
    `ROLES leaves ${elsewhere} to other processes, which cannot share what is embedded in this one: set ${missing.join(', ')}`,
  );
};
