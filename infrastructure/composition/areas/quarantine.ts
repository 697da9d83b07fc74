import { QuarantinedOperations } from '../../../application/quarantine/quarantined-operations.ts';
import type { Foundations } from '../foundations.ts';
import { logOrder, toProjected } from '../projections.ts';
import type { Adapters } from './adapters.ts';
import type { Commands } from './loans.ts';
import type { Scheduling } from './scheduling.ts';

export const quarantinedOperations = (
  { engines, configuration }: Foundations,
  { events, projectionStore, relayQuarantine }: Adapters,
  { resolving }: Commands['renegotiation'],
  { completion, sandboxAdministrator }: Scheduling,
): QuarantinedOperations =>
  new QuarantinedOperations({
    renegotiations: resolving,
    actors: [completion, ...(configuration.environment === 'sandbox' ? [sandboxAdministrator] : [])],
    projections: engines.projections,
    store: projectionStore,
    relay: relayQuarantine,
    events,
    decode: toProjected,
    order: logOrder,
  });
