/** A process of the service that runs beside the requests until it is stopped. */
export interface Background {
  readonly name: string;
  start(): void;
  /** Resolves when what it had in hand is finished or safely given up. */
  stop(): Promise<void>;
}

/** Wraps work that runs until its signal ends. */
export const running = (name: string, run: (signal: AbortSignal) => Promise<void>): Background => {
  const stopping = new AbortController();
  let ended: Promise<void> = Promise.resolve();
  return {
    name,
    start: () => {
      ended = run(stopping.signal);
    },
    stop: () => {
      stopping.abort();
      return ended;
    },
  };
};
