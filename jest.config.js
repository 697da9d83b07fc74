// Threads and processes that tests start find their modules compiled, as those of a service do (infrastructure/composition/compile-cache.ts).
process.env['NODE_COMPILE_CACHE'] ??= new URL('node_modules/.cache/compiled', import.meta.url).pathname;

export default {
  testEnvironment: './tests/support/test-environment.js',
  testRunner: './tests/support/test-framework.js',
  reporters: ['default', './tests/support/leak-reporter.js'],
  roots: ['<rootDir>/tests'],
  cacheDirectory: './node_modules/.cache/jest',
  testMatch: ['**/*.test.ts'],
  transform: {},
  // Nothing that works takes so long, on a machine that is busy with other things either.
  testTimeout: 120_000,
  // On two cores: some suites wait more than they work.
  maxWorkers: 4,
  // A worker ends by writing what was compiled for the first time: 4 s in a new clone, more on a busy machine. One that a suite keeps open never ends.
  workerGracefulExitTimeout: 60_000,
};
