import { setFlagsFromString } from 'node:v8';
import vm from 'node:vm';
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

/*
 * Jest compiles every module anew for each suite, Jest's own and all of a composition among them. What V8 makes of a text is kept beside
 * it, without the world of any suite, and spares the next suites of a worker a quarter of what loading costs.
 */
const compiled = new Map();

/** What was kept for this text, which may be another one than that of the last suite. */
const keptOf = (name, code) => {
  const kept = compiled.get(name);
  return kept?.code === code ? kept.cachedData : undefined;
};

const { compileFunction, SourceTextModule } = vm;
vm.compileFunction = (code, parameters, options) => {
  const { filename } = options;
  const cachedData = keptOf(filename, code);
  const made = compileFunction(code, parameters, {
    ...options,
    ...(cachedData ? { cachedData } : { produceCachedData: true }),
  });
  if (made.cachedData) compiled.set(filename, { code, cachedData: made.cachedData });
  return made;
};
vm.SourceTextModule = class extends SourceTextModule {
  constructor(code, options) {
    const { identifier } = options;
    const cachedData = keptOf(identifier, code);
    super(code, { ...options, ...(cachedData && { cachedData }) });
    if (!cachedData) compiled.set(identifier, { code, cachedData: this.createCachedData() });
  }
};

export default TestEnvironment;
