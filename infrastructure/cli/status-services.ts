import type { StateCount } from '../../application/ports/loan-queries.ts';

/** A part of the service that follows the log. */
export interface FollowerPlace {
  readonly name: string;
  readonly position: string;
  /** Events that it has still to take in; a number below `atLeast` is exact. */
  readonly behind: number;
  readonly atLeast: boolean;
}

export interface ServiceStatus {
  readonly running: boolean;
  /** Where it was looked for. */
  readonly place: string;
  /** Process, machine or answer by which it was found. */
  readonly found: string | null;
  readonly roles: readonly {
    readonly role: string;
    readonly state: string;
    readonly holder: string | null;
  }[];
  readonly engines: readonly { readonly engine: string; readonly kind: string; readonly state: string }[];
  readonly followers: readonly FollowerPlace[];
  readonly operations: readonly StateCount[];
  readonly deliveriesWaiting: { readonly webhooks: number; readonly oldestSince: string | null };
}

export interface Finding {
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'failed';
  readonly detail: string;
}
