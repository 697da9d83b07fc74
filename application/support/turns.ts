/** Work that stops between its steps, none of which takes long. */
export type Steps<Result = void> = Generator<void, Result, void>;

const LONGEST_TURN_MS = 10;

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Carries out all of them, and lets others go on each time when they have taken a turn of the event loop for long enough. */
export const inTurns = async <Result>(steps: Steps<Result>): Promise<Result> => {
  let beganAt = performance.now();
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    if (performance.now() - beganAt < LONGEST_TURN_MS) continue;
    await nextTurn();
    beganAt = performance.now();
  }
};
