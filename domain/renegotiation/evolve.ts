import type { RenegotiationEvent } from './events.ts';
import type { RenegotiationState } from './state.ts';

/** Total, like every evolve: of commit and abort the first one counts, whatever a damaged stream may hold after it. */
export const evolve = (state: RenegotiationState, event: RenegotiationEvent): RenegotiationState => {
  switch (event.type) {
    case 'RenegotiationStarted':
      return state.status === 'none' ? { status: 'started', started: event } : state;
    case 'RenegotiationCommitted':
      return state.status === 'started'
        ? { status: 'committed', started: state.started, committed: event }
        : state;
    case 'RenegotiationAborted':
      return state.status === 'started'
        ? { status: 'aborted', started: state.started, aborted: event }
        : state;
    case 'RenegotiationCompleted':
      return state.status === 'committed' ? { ...state, status: 'completed' } : state;
  }
};
