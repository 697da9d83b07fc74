const LOOK_EVERY_MS = 25;

/**
 * Looks until it holds; a look that fails, as while a group is formed, counts as no. Resolves with the milliseconds that it took.
 * @throws Error after the deadline, with why the last look failed
 */
export const within = async (
  what: string,
  ms: number,
  condition: () => Promise<boolean> | boolean,
  everyMs = LOOK_EVERY_MS,
): Promise<number> => {
  const begun = performance.now();
  let cause: unknown;
  const holds = async (): Promise<boolean> => condition();
  while (!(await holds().catch((error: unknown) => void (cause = error)))) {
    if (performance.now() - begun > ms) throw new Error(`not within ${ms} ms: ${what}`, { cause });
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
  return performance.now() - begun;
};

/** Looks often at what this process does itself, and gives up late. */
export const until = async (
  condition: () => Promise<boolean> | boolean,
  what = String(condition),
  ms = 60_000,
): Promise<void> => void (await within(what, ms, condition, 5));
