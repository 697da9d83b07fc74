import { setFlagsFromString } from 'node:v8';
import { TestEnvironment } from 'jest-environment-node';

/*
 * A worker that has nothing left to do ends at once. Node.js would first take down its heap of some 600 MB, module by module, for which
 * a busy machine needs longer than Jest waits. A handle that a suite has left open keeps a worker from coming here.
 */
if (process.send) process.once('beforeExit', (code) => process.exit(code));

/*
 * What V8 keeps of compiled scripts, in case they come again, holds the whole world of every suite that has ended: some 8 MB each, until
 * collecting garbage takes a worker more time than its suites. Each suite has scripts of its own, so nothing ever comes again.
 */
setFlagsFromString('--no-compilation-cache');

export default TestEnvironment;
