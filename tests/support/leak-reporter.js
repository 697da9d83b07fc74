import { ownTemporaryDirectory } from './own-temporary-directory.ts';

/** Lets the run fail when a worker had to be killed, because a suite left something open: Jest itself only says so. */
export default class LeakReporter {
  #leak;

  onRunStart() {
    ownTemporaryDirectory();
    const print = console.error;
    console.error = (...parts) => {
      if (String(parts[0]).includes('failed to exit gracefully'))
        this.#leak = new Error('a suite left something open');
      print(...parts);
    };
  }

  getLastError() {
    return this.#leak;
  }
}
