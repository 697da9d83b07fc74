import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';

/*
 * A worker that has nothing left to do ends at once. Node.js would first take down its whole heap, for which a busy machine needs longer
 * than Jest waits. A handle that a suite has left open keeps a worker from coming here.
 */
if (process.send) process.once('beforeExit', (code) => process.exit(code));

/** The worker's own world for every file (test-framework.js): what a file of tests has replaced in it is put back behind it. */
export default class TestEnvironment {
  global = globalThis;
  fakeTimers = null;
  moduleMocker = new ModuleMocker(globalThis);
  #kept = { exit: process.exit, console: globalThis.console };

  constructor({ projectConfig }) {
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
  }

  async setup() {}

  async teardown() {
    this.fakeTimersModern.dispose();
    this.moduleMocker.restoreAllMocks();
    process.exit = this.#kept.exit;
    globalThis.console = this.#kept.console;
    delete globalThis[Symbol.for('TEST_TIMEOUT_SYMBOL')];
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  getVmContext() {
    return null;
  }
}
