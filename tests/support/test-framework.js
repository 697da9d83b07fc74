import { createRequire, registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import circus from 'jest-circus/runner';
import { setTestGlobals } from './test-globals.js';

const require = createRequire(import.meta.url);
const globals = new URL('test-globals.js', import.meta.url).href;

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === '@jest/globals' ? { url: globals, shortCircuit: true } : next(specifier, context),
});

/** What holds the tests of one file is loaded anew for the next, with what it has left to its like. */
const anew = (path) => {
  delete require.cache[path];
  delete globalThis[Symbol.for('EVENT_HANDLERS')];
  return require(path);
};

/**
 * Jest's own framework with Node.js's own modules, one world for all files of a worker. In a world for each, as Jest makes them, every file
 * would load and compile the product and its packages once more: half of the time that all tests together took.
 */
export default (globalConfig, config, environment, runtime, path, tell) =>
  circus.default(
    globalConfig,
    config,
    environment,
    {
      requireInternalModule: anew,
      requireModule: require,
      unstable_shouldLoadAsEsm: () => true,
      unstable_importModule: (file) => import(pathToFileURL(file).href),
      setGlobalsForRuntime: (made) => {
        runtime.setGlobalsForRuntime(made);
        setTestGlobals(runtime.requireModuleOrMock(path, '@jest/globals'));
      },
      enterTestCode: () => runtime.enterTestCode(),
      leaveTestCode: () => runtime.leaveTestCode(),
    },
    path,
    tell,
  );
