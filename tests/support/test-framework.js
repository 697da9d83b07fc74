import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { jestExpect } from '@jest/expect';
import { createEmptyTestResult } from '@jest/test-result';
import { addEventHandler, getState, resetState, run, setState } from 'jest-circus';
import { formatResultsErrors } from 'jest-message-util';
import { leftRunning } from './own-temporary-directory.ts';

const globals = new URL('test-globals.js', import.meta.url).href;

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === '@jest/globals' ? { url: globals, shortCircuit: true } : next(specifier, context),
});

addEventHandler(({ name, test }) => {
  if (name === 'test_done')
    for (const { error } of jestExpect.extractExpectedAssertionsErrors()) test.errors.push(error);
});

/** What nobody catches fails the test that runs, or the file. */
const fail = (error) => {
  const { currentlyRunningTest, unhandledErrors } = getState();
  (currentlyRunningTest?.errors ?? unhandledErrors).push(error);
};

const forAllFiles = process.env['TESTS_TMPDIR'];

/** What this file puts aside goes with it; what it has started and not ended is ended, and fails it. */
const inOwnDirectory = async (file) => {
  const own = mkdtempSync(join(forAllFiles, 'file-'));
  chmodSync(own, 0o711);
  process.env['TMPDIR'] = own;
  try {
    const results = await file();
    for (const command of await leftRunning(own)) results.unhandledErrors.push(`left running: ${command}`);
    return results;
  } finally {
    process.env['TMPDIR'] = forAllFiles;
    rmSync(own, { recursive: true, force: true, maxRetries: 5 });
  }
};

/** What Node.js keeps of where an error was made. Jest makes it a hundred calls, of the product's errors too. */
const STACK_FRAMES = 10;

/** Circus closes nothing of a file of which no test runs, as with `-t`: it may have opened something as it was read, and others not at all. */
const closeUnused = async () => {
  for (const { type, fn } of getState().rootDescribeBlock.hooks)
    if (type === 'afterAll') await Promise.try(fn).catch(() => undefined);
};

const STATUS = { skip: 'pending', todo: 'todo' };

const resultOf = ({ testPath, status, errors, errorsDetailed, ...result }) => {
  const [title, ...above] = testPath.slice(1).reverse();
  const ancestorTitles = above.reverse();
  return {
    ...result,
    ancestorTitles,
    title,
    fullName: [...ancestorTitles, title].join(' '),
    status: STATUS[status] ?? (errors.length > 0 ? 'failed' : 'passed'),
    failureMessages: errors,
    failureDetails: errorsDetailed,
  };
};

const count = (results, wanted) => results.filter(({ status }) => status === wanted).length;

/**
 * Jest's own framework with Node.js's own modules, one world for all files of a worker. In a world for each, as Jest makes them, every file
 * would load and compile the product and its packages once more.
 */
export default async (globalConfig, config, environment, runtime, path) => {
  if (globalConfig.watch || globalConfig.watchAll)
    throw new Error('--watch would run again what was loaded first: begin a new run');
  resetState();
  const { testNamePattern: pattern, testTimeout, maxConcurrency } = globalConfig;
  const testNamePattern = pattern ? new RegExp(pattern, 'i') : null;
  setState({
    ...getState(),
    testNamePattern,
    testTimeout: testTimeout ?? config.testTimeout,
    maxConcurrency,
  });
  jestExpect.setState({ testPath: path, expand: globalConfig.expand });
  Error.stackTraceLimit = STACK_FRAMES;
  process.on('uncaughtException', fail);
  try {
    const { testResults, unhandledErrors } = await inOwnDirectory(async () => {
      await import(pathToFileURL(path).href);
      const ran = await run();
      if (ran.testResults.every(({ status }) => status === 'skip')) await closeUnused();
      return ran;
    });
    const results = testResults.map(resultOf);
    const failures = formatResultsErrors(results, config, globalConfig, path);
    const beside = unhandledErrors.join('\n');
    return {
      ...createEmptyTestResult(),
      testFilePath: path,
      testResults: results,
      failureMessage: beside === '' ? failures : `${failures ?? ''}\n${beside}`,
      ...(beside !== '' && { testExecError: { message: '', stack: beside } }),
      numFailingTests: count(results, 'failed'),
      numPassingTests: count(results, 'passed'),
      numPendingTests: count(results, 'pending'),
      numTodoTests: count(results, 'todo'),
    };
  } finally {
    process.off('uncaughtException', fail);
  }
};
