import type { Background } from '../../application/coordination/background.ts';
import type { LeasedRunner } from '../../application/coordination/leased-runner.ts';

/** What a process of the service runs beside the requests. */
export interface Roles {
  /** One process of all at a time runs each of these. */
  readonly leased: readonly LeasedRunner[];
  readonly free: readonly Background[];
}
