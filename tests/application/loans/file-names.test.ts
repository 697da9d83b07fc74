import { describe, expect, test } from '@jest/globals';
import { EARLIER_FILE_NAME, FILE_NAME } from '../../../application/loans/file-names.ts';
import type { BorrowerVault } from '../../../application/ports/borrower-vault.ts';
import type { FundId } from '../../../domain/shared/identifiers.ts';
import { receiveL1 } from '../../domain/support/loan-story.ts';
import { loanCode } from '../../domain/support/renegotiation-story.ts';
import { FUND, context, fixedClock, openVault, sealedName } from '../../support/application-parts.ts';
import { receivedFile } from '../../support/received-file.ts';
import { loansOver } from '../../support/loans-over.ts';
import {
  activeLoan,
  ana,
  eventsOf,
  newProposal,
  renegotiation,
  startProcess,
  streamOf,
  worldWith,
} from '../../support/renegotiation-world.ts';

/** Reads as `invoice-exe.pdf`. */
const OLD = 'invoice-\u202efdp.exe';
const CLEAN = 'clean.pdf';
const SHA256 = 'ab'.repeat(32);
const PDF = { inspect: () => Promise.resolve('pdf' as const) };

/** A release before took the misleading name where this one is given the clean one. */
const earlier: BorrowerVault = {
  ...openVault,
  digest: (text) => openVault.digest(text.replaceAll(CLEAN, OLD)),
  sealNames: (stream, names) =>
    openVault.sealNames(
      stream,
      names.map((name) => (name === CLEAN ? OLD : name)),
    ),
};

const file = (name: string, sha256 = SHA256) => receivedFile(name, '', { size: 10, sha256 });
const named = (names: readonly string[], type = 'ccb') => ({
  documents: names.map((value) => ({ type, value })),
  files: names.map((name) => file(name)),
});
const refusedAt = (field: string) => ({
  code: 'validation_error',
  details: [{ field, code: 'invalid_file_name' }],
});

test.each([
  ['a C1 control', '\u0080', '\u0085', '\u009f'],
  ['a mark of direction', '\u061c', '\u200e', '\u200f'],
  ['an embedding or an override', '\u202a', '\u202d', '\u202e'],
  ['an isolate', '\u2066', '\u2067', '\u2069'],
])('%s is in no new name, and was in names before', (_, ...characters) => {
  for (const character of characters) {
    expect(new RegExp(FILE_NAME, 'u').test(`a${character}.pdf`)).toBe(false);
    expect(EARLIER_FILE_NAME.test(`a${character}.pdf`)).toBe(true);
  }
});

test.each(['Cédula nº 1.pdf', 'مستند.pdf', '👩\u200d👧.pdf', '契約.pdf', 'a\u00a0b.pdf'])(
  '%s is a name',
  (name) => {
    expect(new RegExp(FILE_NAME, 'u').test(name)).toBe(true);
  },
);

describe('an assignment', () => {
  const input = (...names: readonly string[]) => ({
    fundId: FUND as FundId,
    code: loanCode('L1'),
    productType: 'financing',
    acquisitionValue: receiveL1.acquisitionValue,
    dateIssued: receiveL1.dateIssued,
    borrower: ana,
    installments: receiveL1.installments,
    ...named(names),
  });
  const world = async () => {
    const { store, documents, process } = await worldWith();
    const assign = (vault = openVault) =>
      loansOver({
        commands: process.commands,
        vault,
        documents,
        inspector: PDF,
        clock: fixedClock(),
      });
    return { store, documents, assign };
  };

  test('with a misleading name is refused, and nothing is stored', async () => {
    const { store, documents, assign } = await world();
    await expect(assign().assign(context(), input('a.pdf', OLD))).rejects.toMatchObject(
      refusedAt('backing_documents[1].value'),
    );
    expect([await eventsOf(store, streamOf('L1')), documents.stored.size]).toEqual([[], 0]);
  });

  test('that was accepted with one goes on being answered as a replay', async () => {
    const { assign } = await world();
    await assign(earlier).assign(context(), input(CLEAN));
    expect(await assign().assign(context(), input(OLD))).toMatchObject({ replayed: true });
  });

  test('with one under a used code is refused for its name, not for the code', async () => {
    const { assign } = await world();
    await assign().assign(context(), input('a.pdf'));
    await expect(assign().assign(context(), input(OLD))).rejects.toMatchObject(
      refusedAt('backing_documents[0].value'),
    );
  });
});

describe('further documents', () => {
  const world = async () => {
    const { store, documents, process } = await worldWith('L1');
    const add = (vault = openVault) =>
      loansOver({ commands: process.commands, vault, documents, inspector: PDF, clock: fixedClock() });
    return { store, add };
  };
  const input = (names: readonly string[], code = 'L1') => ({ code: loanCode(code), ...named(names) });

  test.each(['L1', 'unknown'])('with a misleading name are refused, for operation %s', async (code) => {
    const { store, add } = await world();
    const before = await eventsOf(store, streamOf('L1'));
    await expect(add().addDocuments(context(), input(['a.pdf', OLD], code))).rejects.toMatchObject(
      refusedAt('documents[1].value'),
    );
    expect(await eventsOf(store, streamOf('L1'))).toEqual(before);
  });

  test('that are there under one are a replay, beside others that are new', async () => {
    const { add } = await world();
    await add(earlier).addDocuments(context(), input([CLEAN]));
    expect(await add().addDocuments(context(), input([OLD]))).toMatchObject({ replayed: true });
    const { replayed, result } = await add().addDocuments(context(), input(['b.pdf', OLD]));
    expect([replayed, result.documents.map(({ value }) => value)]).toEqual([false, ['b.pdf', OLD]]);
  });
});

describe('a renegotiation', () => {
  const withNames = (...names: readonly string[]) => {
    const { documents, files } = named(names, 'renegotiation_document');
    return renegotiation(['L1'], { newProposal: newProposal({ documents }), files });
  };

  test('with a misleading name is refused, as a quote too', async () => {
    const { store, process } = await worldWith('L1');
    const before = await eventsOf(store, streamOf('L1'));
    const refusal = refusedAt('new_loan.backing_documents[0].value');
    for (const act of ['renegotiate', 'quote'] as const)
      await expect(process.renegotiation[act](context(), withNames(OLD))).rejects.toMatchObject(refusal);
    expect(await eventsOf(store, streamOf('L1'))).toEqual(before);
    expect(await eventsOf(store, streamOf('N1'))).toEqual([]);
  });

  test('that was accepted with one goes on being answered as a replay; another one is refused for its name', async () => {
    const { store, documents, process } = await worldWith('L1');
    const before = startProcess(store, { documents, vault: earlier });
    await before.renegotiation.renegotiate(context(), withNames(CLEAN));
    expect(await process.renegotiation.renegotiate(context(), withNames(OLD))).toMatchObject({
      replayed: true,
    });
    await expect(process.renegotiation.renegotiate(context(), withNames(`x${OLD}`))).rejects.toMatchObject(
      refusedAt('new_loan.backing_documents[0].value'),
    );
  });

  test('takes documents over under the names that they have', async () => {
    const { store, documents, process } = await worldWith();
    const [document] = receiveL1.documents;
    await activeLoan(process, documents, 'L1', {
      documents: [{ ...document!, value: sealedName(streamOf('L1'), OLD) }],
    });
    await process.renegotiation.renegotiate(context(), renegotiation());
    const received = (await eventsOf(store, streamOf('N1'))).find(({ type }) => type === 'LoanReceived');
    expect(received).toMatchObject({ documents: [{ value: sealedName(streamOf('N1'), OLD) }] });
  });
});
