const LOOK_EVERY_MS = 25;

/** Looks until it holds; a look that fails counts as no. Resolves with the milliseconds that it took. @throws Error after the deadline */
export const within = async (
  what: string,
  ms: number,
  condition: () => Promise<boolean> | boolean,
): Promise<number> => {
  const begun = performance.now();
  const holds = async (): Promise<boolean> => condition();
  while (!(await holds().catch(() => false))) {
    if (performance.now() - begun > ms) throw new Error(`not within ${ms} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
  return performance.now() - begun;
};
