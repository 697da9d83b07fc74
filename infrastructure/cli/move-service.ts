export const MOVE_TARGETS = ['eventstore', 'database', 'documents'] as const;
/** Addresses of the engines to move to; the environment says the others. They may hold passwords. */
export type MoveTargets = Partial<Record<(typeof MOVE_TARGETS)[number], string>>;

/** A move that is ready to begin, or to go on. */
export interface MoveService {
  /** Steps of the whole move. */
  steps(): Promise<number>;
  /** @param done called with steps as they are done. Answers what is printed. */
  execute(done: (steps: number) => void): Promise<object>;
  close(): Promise<void>;
}
