import { describe, expect, test } from '@jest/globals';
import type { AskedDocuments } from '../../../application/loans/add-documents.ts';
import { NoOperationKeyError } from '../../../application/ports/document-store.ts';
import type { FileKind, ReceivedFile } from '../../../application/ports/document-store.ts';
import { DomainError } from '../../../domain/shared/domain-error.ts';
import type { LoanCode } from '../../../domain/shared/identifiers.ts';
import { receiveL1, rejected } from '../../domain/support/loan-story.ts';
import { context, fixedClock, openVault, sealedName } from '../../support/application-parts.ts';
import { loansOver } from '../../support/loans-over.ts';
import { carryOut, postAssignment, receive, storyOf, streamOf } from '../../support/post-assignment.ts';
import { inspectorOf, receivedFile } from '../../support/received-file.ts';

const file = (name: string, sha256 = 'ab'.repeat(32)): ReceivedFile =>
  receivedFile(name, '', { size: 10, sha256 });
const request = (
  names: readonly string[],
  { type = 'invoice', content = 'cd'.repeat(32), code = 'L1' } = {},
): AskedDocuments => ({
  code: code as LoanCode,
  documents: names.map((value) => ({ type, value })),
  files: names.map((name) => file(name, content)).reverse(),
});

const world = (kind: FileKind | DomainError = 'pdf') => {
  const process = postAssignment();
  const stored: string[] = [];
  const disk = { failing: false };
  const loans = (commands = process.commands, vault = openVault) =>
    loansOver({
      commands,
      vault,
      documents: {
        put: async (stream, { name, sha256 }) => {
          if (disk.failing) throw new Error('disk full');
          stored.push(`${stream} ${name} ${sha256.slice(0, 2)}`);
        },
      },
      inspector: kind instanceof DomainError ? { inspect: () => Promise.reject(kind) } : inspectorOf(kind),
      clock: fixedClock(),
    });
  return { process, stored, disk, loans };
};

describe('add documents', () => {
  test('are stored before the event names them, and come back in the order of the request', async () => {
    const { process, stored, loans } = world();
    await receive(process);
    const { replayed, result } = await loans().addDocuments(context(), request(['a.pdf', 'b.pdf']));
    expect({ replayed, names: result.documents.map(({ value }) => value) }).toEqual({
      replayed: false,
      names: ['a.pdf', 'b.pdf'],
    });
    expect([...stored].sort()).toEqual([`${streamOf()} a.pdf cd`, `${streamOf()} b.pdf cd`]);
    expect((await storyOf(process)).at(-1)).toEqual({
      type: 'DocumentsAdded',
      documents: result.documents.map((one) => ({ ...one, value: sealedName(streamOf(), one.value!) })),
      addedAt: '2026-06-20T12:00:00.000Z',
    });
  });

  test('again: a replay with the first ids, in any process, and nothing is stored', async () => {
    const { process, stored, loans } = world();
    await receive(process);
    const { result } = await loans().addDocuments(context(), request(['a.pdf']));
    for (const commands of [process.commands, postAssignment({ store: process.store }).commands]) {
      const again = await loans(commands).addDocuments(context(), request(['a.pdf']));
      expect(again).toEqual({ replayed: true, result });
    }
    expect([stored.length, (await storyOf(process)).length]).toEqual([1, 2]);
  });

  test('some that are there and some that are new: the new ones are added, all are answered', async () => {
    const { process, stored, loans } = world();
    await receive(process);
    const first = await loans().addDocuments(context(), request(['a.pdf']));
    const { replayed, result } = await loans().addDocuments(context(), request(['b.pdf', 'a.pdf']));
    expect([replayed, result.documents.map(({ value }) => value)]).toEqual([false, ['b.pdf', 'a.pdf']]);
    expect(result.documents[1]).toEqual(first.result.documents[0]);
    expect(stored).toHaveLength(2);
  });

  test.each([
    [
      'the same name with other content',
      'idempotency_conflict',
      request(['b.pdf', 'a.pdf'], { content: 'ee'.repeat(32) }),
    ],
    [
      'a signature without a renegotiation',
      'operation_invalid_state',
      request(['s.pdf'], { type: 'renegotiation_signature' }),
    ],
    ['an unknown operation', 'loan_not_found', request(['a.pdf'], { code: 'L9' })],
  ])('%s: %s, and no content is kept', async (_, code, input) => {
    const { process, stored, loans } = world();
    await receive(process);
    await loans().addDocuments(context(), request(['a.pdf']));
    await expect(loans().addDocuments(context(), input)).rejects.toMatchObject({ code });
    expect([stored.length, (await storyOf(process)).length]).toEqual([1, 2]);
  });

  test('a rejected operation takes none', async () => {
    const { process, loans } = world();
    await receive(process);
    await carryOut(process, { type: 'RejectLoan', reasons: rejected.reasons, now: fixedClock().now() });
    await expect(loans().addDocuments(context(), request(['a.pdf']))).rejects.toMatchObject({
      code: 'operation_invalid_state',
    });
  });

  test('500 are what an operation may have, one of its reception among them; more come in no part', async () => {
    const { process, stored, loans } = world();
    await receive(process);
    const names = Array.from({ length: 500 }, (_, at) => `${at}.pdf`);
    await loans().addDocuments(context(), request(names.slice(0, 498)));
    await expect(loans().addDocuments(context(), request(names.slice(497)))).rejects.toMatchObject({
      code: 'operation_invalid_state',
      message: 'operation L1 has 499 documents, and may have at most 500',
    });
    expect(stored).toHaveLength(498);
    await loans().addDocuments(context(), request(names.slice(497, 499)));
    expect((await loans().addDocuments(context(), request(names.slice(0, 20)))).replayed).toBe(true);
  });

  test('an operation that has more since an earlier version answers them again, and takes no other', async () => {
    const { process, loans } = world();
    await receive(process);
    const [one] = receiveL1.documents;
    const documents = Array.from({ length: 500 }, (_, at) => ({
      ...one!,
      documentId: `${at}`,
      value: sealedName(streamOf(), `${at}.pdf`),
    }));
    await carryOut(process, { type: 'AddDocuments', documents, now: fixedClock().now() });
    const again = request(['499.pdf'], { type: one!.type, content: one!.sha256 });
    expect((await loans().addDocuments(context(), again)).replayed).toBe(true);
    await expect(loans().addDocuments(context(), request(['a.pdf']))).rejects.toMatchObject({
      code: 'operation_invalid_state',
    });
  });

  test.each([
    ['renegotiation_document', true],
    ['invoice', false],
    ['renegotiation_signature', false],
  ])('a Word document as %s: accepted %s', async (type, accepted) => {
    const { process, loans } = world('docx');
    await receive(process);
    const sent = loans().addDocuments(context(), request(['debt.docx'], { type }));
    if (accepted) expect((await sent).replayed).toBe(false);
    else await expect(sent).rejects.toMatchObject({ code: 'invalid_file' });
  });

  test('a file that is neither is refused before the operation is looked at', async () => {
    const { loans } = world(new DomainError('invalid_file', 'a.pdf is a picture'));
    await expect(loans().addDocuments(context(), request(['a.pdf']))).rejects.toMatchObject({
      code: 'invalid_file',
    });
  });

  test('a content that cannot be stored leaves no event; the same request works later', async () => {
    const { process, disk, loans } = world();
    await receive(process);
    disk.failing = true;
    await expect(loans().addDocuments(context(), request(['a.pdf']))).rejects.toThrow('disk full');
    expect(await storyOf(process)).toHaveLength(1);
    disk.failing = false;
    expect((await loans().addDocuments(context(), request(['a.pdf']))).replayed).toBe(false);
  });

  test('a name that an earlier version stored plainly is still its document', async () => {
    const { process, stored, loans } = world();
    await receive(process);
    const [present] = receiveL1.documents;
    const { type, sha256: content } = present!;
    const name = 'ccb.pdf';
    const again = await loans().addDocuments(context(), request([name], { type, content }));
    expect(again).toMatchObject({
      replayed: true,
      result: { documents: [{ value: name, documentId: 'd-1' }] },
    });
    await expect(loans().addDocuments(context(), request([name], { type }))).rejects.toMatchObject({
      code: 'idempotency_conflict',
    });
    expect([stored.length, (await storyOf(process)).length]).toEqual([0, 1]);
  });

  test('once the borrower is forgotten none is taken; the same again is a replay without its name', async () => {
    const { process, loans } = world();
    await receive(process);
    await loans().addDocuments(context(), request(['a.pdf']));
    await carryOut(process, { type: 'ForgetBorrower', now: fixedClock().now() });
    const again = await loans().addDocuments(context(), request(['a.pdf']));
    expect([again.replayed, again.result.documents.map(({ value }) => value)]).toEqual([true, [null]]);
    const other = request(['a.pdf'], { content: 'ee'.repeat(32) });
    await expect(loans().addDocuments(context(), other)).rejects.toMatchObject({
      code: 'operation_invalid_state',
    });
  });

  test("without the operation's key nothing is stored, least of all a plain name", async () => {
    const { process, stored, loans } = world();
    await receive(process);
    const keyless = loans(process.commands, { ...openVault, sealNames: () => Promise.resolve(undefined) });
    await expect(keyless.addDocuments(context(), request(['a.pdf']))).rejects.toMatchObject({
      code: 'operation_invalid_state',
    });
    expect([stored.length, (await storyOf(process)).length]).toEqual([0, 1]);
  });

  test('forgotten while its contents are stored: none is taken, as on record', async () => {
    const { process } = world();
    await receive(process);
    const forgotten = loansOver({
      commands: process.commands,
      vault: openVault,
      documents: {
        put: async () => {
          await carryOut(postAssignment({ store: process.store }), {
            type: 'ForgetBorrower',
            now: fixedClock().now(),
          });
          throw new NoOperationKeyError('the key is deleted');
        },
      },
      inspector: inspectorOf('pdf'),
      clock: fixedClock(),
    });
    await expect(forgotten.addDocuments(context(), request(['a.pdf']))).rejects.toMatchObject({
      code: 'operation_invalid_state',
      message: expect.stringContaining('forgotten'),
    });
    expect((await storyOf(process)).map(({ type }) => type)).toEqual(['LoanReceived', 'BorrowerForgotten']);
  });

  test('two at once: one adds, the other replays', async () => {
    const { process, loans } = world();
    await receive(process);
    const other = postAssignment({ store: process.store }).commands;
    const all = await Promise.all(
      [process.commands, process.commands, other].map((commands) =>
        loans(commands).addDocuments(context(), request(['a.pdf'])),
      ),
    );
    expect(all.map(({ replayed }) => replayed).sort()).toEqual([false, true, true]);
    expect(new Set(all.map(({ result }) => result.documents[0]?.documentId)).size).toBe(1);
  });
});
