import type { Parts } from '../parts.ts';
import { Maintenance } from '../../../application/maintenance/maintenance.ts';
import { within } from '../../support/time.ts';
import { logOrder, toProjected } from '../projections.ts';
import { rebuildOf } from '../serving-generation.ts';
import { rotateMasterKey } from './rotate-master-key.ts';
import { enginesOf, findService } from './found-service.ts';

export const maintenanceOf = (parts: Parts): Maintenance => {
  const { foundations, adapters } = parts;
  const { configuration, engines } = foundations;
  const { eventStore: log, generations, projections, serviceDatabase, readModelDatabase } = engines;
  const { projectionStore, checkpoints, relayQuarantine, formats } = adapters;
  return new Maintenance({
    ...{ log, generations, projections, serviceDatabase, readModelDatabase },
    ...{ projectionStore, checkpoints, relayQuarantine, formats },
    order: logOrder,
    within,
    decode: toProjected,
    rebuilding: () => rebuildOf({ log, generations }),
    renegotiation: () => parts.commands.renegotiation,
    actors: () => [parts.scheduling.completion, ...[parts.administrator.sandbox ?? []].flat()],
    webhooks: () => parts.webhooks.webhooks,
    sandboxClock: parts.sandboxClock,
    rotateMasterKey: () => rotateMasterKey(foundations, adapters),
    findService: () => findService(configuration, adapters),
    engines: () => enginesOf(foundations, adapters),
  });
};
