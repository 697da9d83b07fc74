import type { OperationPlace } from '../../../application/command-handling/operation.ts';
import { expect, test } from '@jest/globals';
import type { BorrowerOperation, ForgetRequest } from '../../../application/privacy/forget-borrower.ts';
import { DomainError } from '../../../domain/shared/domain-error.ts';
import type { App } from '../../../application/app.ts';
import { OutputClosedError } from '../../../infrastructure/cli/command-line.ts';
import type { CliDependencies } from '../../../infrastructure/cli/command-line.ts';
import { commandLine } from '../../support/command-line.ts';

const LOST = { status: 'active', open: true, documents: 1, forgottenAt: null } as const;

/** The key of OP-1 of app-1 is lost, that of any other operation is there. */
const setUp = () => {
  const forgotten: (OperationPlace & { readonly reason?: string })[] = [];
  /** How much was forgotten each time that the read models were to follow. */
  const followed: number[] = [];
  const findLost = async (place: OperationPlace): Promise<BorrowerOperation> => {
    if (place.code === 'OP-1') return { ...place, ...LOST };
    throw new DomainError('operation_invalid_state', `the key of operation ${place.code} is there`);
  };
  const privacy = {
    scrub: async () => true,
    forgetting: {
      findLost,
      forgetLost: async ({ applicationId, code }: OperationPlace, { reason }: ForgetRequest) =>
        void forgotten.push({ applicationId, code, ...(reason !== undefined && { reason }) }),
    },
  } as unknown as App['privacy'];
  const loans = {
    applicationOf: async () => 'app-1',
    catchUp: async () => {
      followed.push(forgotten.length);
      throw new Error('the read models stand still');
    },
  } as unknown as App['loans'];
  const forget =
    (more: Partial<CliDependencies> = {}) =>
    (...args: readonly string[]) =>
      commandLine(() => ({ privacy, loans }), more)('borrower', 'forget', ...args);
  return { forgotten, followed, forget, run: forget() };
};

test('--lost-key forgets the one operation that has the code, and leaves an open one as --document does', async () => {
  const { run, forgotten, followed } = setUp();
  const left = await run('--lost-key', 'OP-1', '--yes');
  expect([left.code, left.lines, forgotten]).toMatchObject([3, [{ forgotten: 0, left_open: 1 }], []]);
  expect(left.err).toContain('--including-open');
  const done = await run('--lost-key', 'OP-1', '--yes', '--including-open', '--reason', 'key lost');
  expect([done.code, done.lines]).toMatchObject([
    0,
    [{ forgotten: 1, operations: [{ originator_proposal_code: 'OP-1', outcome: 'forgotten' }] }],
  ]);
  expect(forgotten).toEqual([{ applicationId: 'app-1', code: 'OP-1', reason: 'key lost' }]);
  // Once it is done; that they stand still does not undo it.
  expect(followed).toEqual([1]);
});

test('--document names what it could not look at, and forgets what it found', async () => {
  const place = { applicationId: 'app-1', code: 'OP-3' };
  let unreadable: readonly string[] = [];
  const forgotten: OperationPlace[] = [];
  const privacy = {
    scrub: async () => true,
    index: async () => ['loan-app-1.OP-4'],
    forgetting: {
      find: async () => ({ operations: [{ ...place, ...LOST, open: false }], unreadable }),
      forget: async (_: string, { code, applicationId }: OperationPlace) =>
        void forgotten.push({ applicationId, code }),
      clearRefused: async () => undefined,
    },
  } as unknown as App['privacy'];
  const loans = { catchUp: async () => undefined } as unknown as App['loans'];
  const run = commandLine(() => ({ privacy, loans }));
  const done = await run('borrower', 'forget', '--document', '52998224725', '--yes');
  expect([done.code, forgotten]).toEqual([0, [place]]);
  expect(done.err).toContain('whose loan-app-1.OP-4 is cannot be read now');
  unreadable = ['loan-app-1.OP-5'];
  const partly = await run('borrower', 'forget', '--document', '52998224725', '--yes');
  expect([partly.code, forgotten, partly.lines]).toMatchObject([
    1,
    [place, place],
    [{ forgotten: 1, left_open: 0, unreadable: 1 }],
  ]);
  expect(partly.err).toMatch(
    /not forgotten: loan-app-1\.OP-5\n(.|\n)*1 operation\(s\) of this borrower cannot be read/,
  );
});

test('what was left open is told to nobody that reads it, and ends with 3 all the same', async () => {
  const write = async (): Promise<never> => {
    throw new OutputClosedError();
  };
  const left = await setUp().forget({ write })('--lost-key', 'OP-1', '--yes');
  expect([left.code, left.err]).toEqual([3, expect.stringContaining('--including-open')]);
});

test('--lost-key asks before it forgets, and is refused with 3 where the key is there', async () => {
  const { run, forgotten } = setUp();
  expect((await run('--lost-key', 'OP-1', '--including-open')).code).toBe(2);
  const refused = await run('--lost-key', 'OP-2', '--yes', '--including-open');
  expect([refused.code, refused.err]).toEqual([3, 'error: the key of operation OP-2 is there\n']);
  expect(forgotten).toEqual([]);
});

test('what is no document is refused before anything is opened', async () => {
  const refused = await commandLine(() => ({}))('borrower', 'forget', '--document', '123', '--yes');
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('--document')]);
});

test.each([[[]], [['--document', '52998224725', '--lost-key', 'OP-1']]])(
  'either a document or a lost key: %j is wrong use',
  async (options: readonly string[]) => {
    const { code, err } = await setUp().run(...options, '--yes');
    expect([code, err]).toEqual([2, expect.stringContaining('--lost-key')]);
  },
);
