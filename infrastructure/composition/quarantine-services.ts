import type { Container } from 'inversify';
import { QuarantinedOperations } from '../../application/quarantine/quarantined-operations.ts';
import { allProjections } from './all-projections.ts';
import { toProjected } from './read-side.ts';
import { logOrder } from './serving-generation.ts';
import { TOKENS } from './tokens.ts';

export const quarantineOf = (container: Container): QuarantinedOperations =>
  new QuarantinedOperations({
    projections: allProjections,
    store: container.get(TOKENS.projectionStore),
    relay: container.get(TOKENS.relayQuarantine),
    events: container.get(TOKENS.eventStore),
    decode: toProjected,
    order: logOrder,
  });
