import type { Parts } from '../parts.ts';
import { Maintenance } from '../../../application/maintenance/maintenance.ts';
import { within } from '../../support/time.ts';
import { logOrder, toProjected } from '../projections.ts';
import { rebuildOf } from '../serving-generation.ts';
import { rotateMasterKey } from './rotate-master-key.ts';
import { enginesOf, findService } from './found-service.ts';

export const maintenanceOf = (parts: Parts): Maintenance => {
  const { engines } = parts.foundations;
  const { eventStore: log, generations, projections, serviceDatabase, readModelDatabase } = engines;
  const { projectionStore, checkpoints, relayQuarantine, formats } = parts;
  return new Maintenance({
    ...{ log, generations, projections, serviceDatabase, readModelDatabase },
    ...{ projectionStore, checkpoints, relayQuarantine, formats },
    order: logOrder,
    within,
    decode: toProjected,
    rebuilding: () => rebuildOf({ log, generations }),
    renegotiation: () => parts.renegotiation,
    actors: () => [parts.scheduling.completion, ...[parts.administrator.sandbox ?? []].flat()],
    webhooks: () => parts.webhooks.webhooks,
    sandboxClock: parts.sandboxClock,
    rotateMasterKey: () => rotateMasterKey(parts),
    findService: () => findService(parts),
    engines: () => enginesOf(parts),
  });
};
