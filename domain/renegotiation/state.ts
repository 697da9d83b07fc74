import type { RenegotiationAborted, RenegotiationCommitted, RenegotiationStarted } from './events.ts';

export interface NoRenegotiation {
  readonly status: 'none';
}
export interface StartedRenegotiation {
  readonly status: 'started';
  readonly started: RenegotiationStarted;
}
export interface CommittedRenegotiation {
  /** `completed` once every stream has taken the commit over. */
  readonly status: 'committed' | 'completed';
  readonly started: RenegotiationStarted;
  readonly committed: RenegotiationCommitted;
}
export interface AbortedRenegotiation {
  readonly status: 'aborted';
  readonly started: RenegotiationStarted;
  readonly aborted: RenegotiationAborted;
}

export type RenegotiationState =
  NoRenegotiation | StartedRenegotiation | CommittedRenegotiation | AbortedRenegotiation;
