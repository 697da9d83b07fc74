import { mocks, timers } from './test-globals.js';

/*
 * A worker that has nothing left to do ends at once. Node.js would first take down its whole heap, for which a busy machine needs longer
 * than Jest waits. A handle that a suite has left open keeps a worker from coming here.
 */
if (process.send) process.once('beforeExit', (code) => process.exit(code));

/** The worker's own world for every file (test-framework.js): what a file of tests has replaced in it is put back behind it. */
export default class TestEnvironment {
  global = globalThis;
  fakeTimers = null;
  fakeTimersModern = timers;
  moduleMocker = mocks;
  #kept = { exit: process.exit, console: globalThis.console };

  async setup() {}

  async teardown() {
    timers.useRealTimers();
    mocks.restoreAllMocks();
    process.exit = this.#kept.exit;
    globalThis.console = this.#kept.console;
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  getVmContext() {
    return null;
  }
}
