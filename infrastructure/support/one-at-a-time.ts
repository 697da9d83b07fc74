/** Work that must not run beside itself: a call during a run waits for a run of its own, which it may share. */
export const oneAtATime = (work: () => Promise<void>): (() => Promise<void>) => {
  let last: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;
  return () =>
    (next ??= last =
      last
        .catch(() => undefined)
        .then(() => {
          next = undefined;
          return work();
        }));
};
