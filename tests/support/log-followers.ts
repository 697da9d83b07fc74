import type { CheckpointStore } from '../../application/ports/coordination.ts';
import type {
  EventSubscription,
  LogPosition,
  SubscribeOptions,
} from '../../application/ports/event-store.ts';

/** Checkpoints by name, in a map. */
export class MemoryCheckpoints implements CheckpointStore {
  readonly positions = new Map<string, LogPosition>();
  load = (name: string): Promise<LogPosition | 'start'> =>
    Promise.resolve(this.positions.get(name) ?? 'start');
  advance = async (
    name: string,
    expected: LogPosition | 'start',
    position: LogPosition,
  ): Promise<boolean> => {
    if ((await this.load(name)) !== expected) return false;
    this.positions.set(name, position);
    return true;
  };
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
