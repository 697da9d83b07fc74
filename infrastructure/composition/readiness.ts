import type { Container } from 'inversify';
import { loanProjection } from '../../projections/loan/loan-projection.ts';
import type { Readiness } from '../http/handlers/meta.ts';
import type { Role } from './configuration.ts';
import { TOKENS } from './tokens.ts';

const PROBED_STREAM = 'loan-readiness.probe';

const outcomeOf = async (look: () => Promise<unknown>): Promise<string> => {
  try {
    await look();
    return 'ok';
  } catch (error) {
    return (error as Error).message;
  }
};

/** Ready means: the stores answer, and the processes that this one runs are not halted. */
export const readinessOf = (container: Container, roles: readonly Role[]) => async (): Promise<Readiness> => {
  const events = container.get(TOKENS.eventStore);
  const checkpoints = container.get(TOKENS.checkpoints);
  const projections = container.get(TOKENS.projectionStore);
  const projector = container.get(TOKENS.loanProjector);
  const checks: Record<string, string> = {
    event_store: await outcomeOf(() => events.head(PROBED_STREAM)),
    service_store: await outcomeOf(() => checkpoints.load('readiness')),
    read_model: await outcomeOf(() => projections.checkpoint(loanProjection)),
  };
  if (roles.includes('projector')) {
    const { state, lastError } = projector.status();
    checks['projector'] = state === 'running' ? 'ok' : `${state}${lastError ? `: ${lastError}` : ''}`;
  }
  return { ready: Object.values(checks).every((check) => check === 'ok'), checks };
};
