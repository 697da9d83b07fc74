/** Work of the service that goes on beside the requests until it is stopped; it can be started again after that. */
export interface Background {
  readonly name: string;
  start(): void;
  /** Resolves when what it had in hand is finished or safely given up. */
  stop(): Promise<void>;
  /** Some of it has come to a halt that this process cannot mend: another one, of another release, may be able to go on. */
  readonly isStuck?: () => boolean;
}

export const running = (name: string, run: (signal: AbortSignal) => Promise<void>): Background => {
  let current: { readonly stopping: AbortController; readonly ended: Promise<void> } | undefined;
  return {
    name,
    start: () => {
      const stopping = new AbortController();
      current ??= { stopping, ended: run(stopping.signal) };
    },
    stop: async () => {
      current?.stopping.abort();
      await current?.ended;
      current = undefined;
    },
  };
};

export const together = (name: string, parts: readonly Background[]): Background => ({
  name,
  start: () => {
    for (const part of parts) part.start();
  },
  stop: async () => {
    await Promise.all(parts.map((part) => part.stop()));
  },
  isStuck: () => parts.some((part) => part.isStuck?.() ?? false),
});
