import { ownTemporaryDirectory } from './own-temporary-directory.ts';

/** What a run without workers may take for its end. */
const END_MS = 10_000;

/** Lets the run fail when a worker had to be killed, or would not end by itself, because a suite left something open: Jest itself only says so. */
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

  onRunComplete() {
    setTimeout(() => {
      console.error('a suite left something open:', ...process.getActiveResourcesInfo());
      process.exit(1);
    }, END_MS).unref();
  }

  getLastError() {
    return this.#leak;
  }
}
