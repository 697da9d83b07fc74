import { TestEnvironment } from 'jest-environment-node';

/*
 * A worker that has nothing left to do ends at once. Node.js would first take down its heap of some 600 MB, module by module, for which
 * a busy machine needs longer than Jest waits. A handle that a suite has left open keeps a worker from coming here.
 */
if (process.send) process.once('beforeExit', (code) => process.exit(code));

export default TestEnvironment;
