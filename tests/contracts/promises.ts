import { afterAll, beforeAll, describe, test } from '@jest/globals';

/** What a port promises, told of one that is there. It holds beside what other promises leave behind. */
export interface Promised<Port> {
  readonly name: string;
  readonly check: (port: Port) => Promise<void>;
}

/** Registers every promise of a port as a test of this adapter; there is no way to leave one out. */
export const describePromises = <Port>(
  adapter: string,
  promises: readonly Promised<Port>[],
  open: () => Promise<{ readonly port: Port; close(): Promise<void> }>,
): void => {
  describe(`${adapter} keeps its promises`, () => {
    let opened: Awaited<ReturnType<typeof open>>;
    beforeAll(async () => {
      opened = await open();
    });
    afterAll(() => opened.close());
    test.each(promises)('$name', ({ check }) => check(opened.port));
  });
};
