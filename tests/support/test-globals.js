import { ModernFakeTimers } from '@jest/fake-timers';
import { getState, setState } from 'jest-circus';
import { ModuleMocker } from 'jest-mock';

/*
 * `@jest/globals` for all files of a worker (test-framework.js). Modules cannot be mocked: a use case is handed what it needs.
 */
export { jestExpect as expect } from '@jest/expect';
export { afterAll, afterEach, beforeAll, beforeEach, describe, test } from 'jest-circus';

export const mocks = new ModuleMocker(globalThis);
export const timers = new ModernFakeTimers({ config: { fakeTimers: {} }, global: globalThis });

export const jest = {
  fn: (implementation) => mocks.fn(implementation),
  spyOn: (object, name) => mocks.spyOn(object, name),
  restoreAllMocks: () => mocks.restoreAllMocks(),
  setTimeout: (testTimeout) => void setState({ ...getState(), testTimeout }),
  useFakeTimers: (which) => timers.useFakeTimers(which),
  useRealTimers: () => timers.useRealTimers(),
  advanceTimersByTime: (ms) => timers.advanceTimersByTime(ms),
  advanceTimersByTimeAsync: (ms) => timers.advanceTimersByTimeAsync(ms),
};
