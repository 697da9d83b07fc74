import type { CheckpointStore } from '../../application/coordination/stored-places.ts';
import type {
  EventSubscription,
  LogPosition,
  SubscribeOptions,
} from '../../application/ports/event-store.ts';

/** Checkpoints by name, in a map. */
export class MemoryCheckpoints implements CheckpointStore {
  readonly positions = new Map<string, LogPosition>();
  load: CheckpointStore['load'] = async (name) => this.positions.get(name) ?? 'start';
  move: CheckpointStore['move'] = async (name, expected, position) => {
    if ((this.positions.get(name) ?? 'start') !== expected) return false;
    if (position === 'start') this.positions.delete(name);
    else this.positions.set(name, position);
    return true;
  };
  list: CheckpointStore['list'] = async () =>
    [...this.positions]
      .map(([name, position]) => ({ name, position, updatedAt: '2026-01-15T12:09:00.000Z' }))
      .sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** The log up to where it ends; then the signal ends as well, and with it every follower. */
export const oneLookAtTheLog = (
  log: EventSubscription,
): { readonly subscription: EventSubscription; readonly signal: AbortSignal; readonly stop: () => void } => {
  const stop = new AbortController();
  const subscription: EventSubscription = {
    async *subscribe(options: SubscribeOptions) {
      for await (const message of log.subscribe(options)) {
        if (message.kind === 'caught_up') return stop.abort();
        yield message;
      }
    },
  };
  return { subscription, signal: stop.signal, stop: () => stop.abort() };
};
