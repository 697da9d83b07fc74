/*
 * `@jest/globals`, as the tests of one file have it. What several files share is loaded once, and finds here what belongs to the file whose
 * tests run now: an import follows its variable.
 */
export let describe, test, expect, beforeAll, beforeEach, afterEach, afterAll, jest;

export const setTestGlobals = (globals) =>
  void ({ describe, test, expect, beforeAll, beforeEach, afterEach, afterAll, jest } = globals);
