interface Closable {
  close(): unknown;
}

/**
 * Opens several things one after the other. Where one of them fails, those that were kept before it are closed again, last first.
 * @param open is handed what keeps a thing, and what closes all that are kept by then
 */
export const opening = async <Result>(
  open: (
    kept: <Thing extends Closable | undefined>(thing: Thing) => Thing,
    close: () => Promise<void>,
  ) => Promise<Result>,
): Promise<Result> => {
  const opened = new AsyncDisposableStack();
  try {
    return await open(
      (thing) => opened.adopt(thing, async () => void (await thing?.close())),
      () => opened.disposeAsync(),
    );
  } catch (error) {
    await opened.disposeAsync();
    throw error;
  }
};

/** Made when first asked for, and kept. What failed is made again for whoever asks next. */
export const whenAsked = <Made>(make: () => Promise<Made>): (() => Promise<Made>) => {
  let made: Promise<Made> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
};
