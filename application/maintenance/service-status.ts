import type { Generations } from './rebuild/generations.ts';
import type { StateCount } from '../loans/operation-states.ts';
import type { CheckpointStore } from '../coordination/stored-places.ts';
import type { ProjectionStore } from '../projecting/projection-store.ts';
import type { Behind } from '../processors/processor.ts';
import { RELAY_CHECKPOINT } from '../publication/relay.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';
import { behindOf } from './behind.ts';
import type { Counting } from './behind.ts';

export interface FoundService {
  readonly place: string;
  readonly found: string | null;
  readonly roles: readonly {
    readonly role: string;
    readonly state: string;
    readonly holder: string | null;
  }[];
}

export interface Lag {
  readonly running: boolean;
  readonly followers: readonly Behind[];
  readonly deliveriesWaiting: { readonly webhooks: number; readonly oldestSince: string | null };
}

export interface Health extends Lag {
  /** Roles that nobody has taken, though a service was found. */
  readonly idleRoles: readonly string[];
  /** Operations and renegotiations of which an event could not be taken. */
  readonly quarantined: number;
}

export interface ServiceStatus extends FoundService, Health {
  readonly engines: readonly { readonly engine: string; readonly kind: string; readonly state: string }[];
  readonly operations: readonly StateCount[];
}

export const idleRolesOf = ({ found, roles }: FoundService): readonly string[] =>
  roles.filter(({ state }) => found !== null && state === 'nobody').map(({ role }) => role);

export interface Finding {
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'failed';
  readonly detail: string;
}

interface Followed extends Counting {
  readonly generations: Pick<Generations, 'projections'>;
  readonly projectionStore: Pick<ProjectionStore, 'checkpoint'>;
  readonly checkpoints: Pick<CheckpointStore, 'load'>;
  readonly webhooks: () => Webhooks;
}

/** Nothing is waited for: what is behind is told as behind. */
export const lagOf = async (followed: Followed): Promise<Omit<Lag, 'running'>> => {
  const { generations, projectionStore, checkpoints, webhooks } = followed;
  const lags = await webhooks().lag.read();
  const oldestSince = lags.map(({ oldestCreatedAt }) => oldestCreatedAt).toSorted()[0] ?? null;
  const places = [{ name: 'relay', position: await checkpoints.load(RELAY_CHECKPOINT) }];
  for (const projection of generations.projections)
    places.push({ name: projection.name, position: await projectionStore.checkpoint(projection) });
  return {
    followers: await behindOf(followed, places),
    deliveriesWaiting: { webhooks: lags.length, oldestSince },
  };
};
