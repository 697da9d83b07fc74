import { describe, expect, test } from '@jest/globals';
import { findBrokenLink } from '../../../application/event-codec/event-codec.ts';
import { RENEGOTIATION_STREAM_PREFIX } from '../../../application/command-handling/operation.ts';
import type { AskedRenegotiation } from '../../../application/renegotiation/request.ts';
import { calendarDate } from '../../../domain/shared/calendar-date.ts';
import type { FundId } from '../../../domain/shared/identifiers.ts';
import { receiveL1, requestRepurchase } from '../../domain/support/loan-story.ts';
import { loanCode } from '../../domain/support/renegotiation-story.ts';
import { NOW, context, sealedName } from '../../support/application-parts.ts';
import {
  activation,
  activeLoan,
  ana,
  command,
  eventsOf,
  logOf,
  newProposal,
  pay,
  renegotiation,
  statusOf,
  streamOf,
  typesOf,
  withDocument,
  worldWith,
} from '../../support/renegotiation-world.ts';

const SHA = receiveL1.documents[0]!.sha256;

describe('renegotiate one operation', () => {
  test('the original leaves, the new operation enters', async () => {
    const { store, process } = await worldWith('L1');
    const outcome = await process.renegotiation.renegotiate(context(), renegotiation());
    expect(outcome).toEqual({
      replayed: false,
      result: {
        originalProposalCodes: ['L1'],
        newProposal: { code: 'N1', status: 'received' },
        effectiveDate: '2026-06-20',
        processedAt: NOW,
      },
    });
    expect((await typesOf(store, 'L1')).slice(-2)).toEqual(['LoanReserved', 'LoanRenegotiated']);
    expect(await typesOf(store, 'N1')).toEqual(['LoanReserved', 'LoanReceived']);
    for (const code of ['L1', 'N1']) {
      expect(findBrokenLink(streamOf(code), (await store.read(streamOf(code))).events)).toBe(-1);
    }
  });

  test('takes over fund, product, borrower and documents, sealed and stored for the new operation', async () => {
    const { store, documents, process } = await worldWith('L1');
    await process.renegotiation.renegotiate(context(), renegotiation());
    const received = (await eventsOf(store, streamOf('N1'))).find((event) => event.type === 'LoanReceived');
    expect(received).toMatchObject({
      productType: receiveL1.productType,
      dateIssued: '2026-06-20',
      documents: [
        { type: 'ccb', value: sealedName(streamOf('N1'), 'ccb.pdf'), sha256: SHA, receivedAt: NOW },
      ],
      renegotiation: { originalProposalCodes: ['L1'], newProposalCode: 'N1' },
    });
    expect(JSON.parse(received!.borrower)).toEqual({ stream: streamOf('N1'), borrower: ana });
    expect(documents.stored).toContain(`${streamOf('N1')}/${SHA}`);
  });

  test('keeps what was paid, and takes nothing more', async () => {
    const { process } = await worldWith('L1');
    await pay(process.commands, 'L1', '001');
    await process.renegotiation.renegotiate(context(), renegotiation());
    await expect(pay(process.commands, 'L1', '002')).rejects.toMatchObject({
      code: 'operation_invalid_state',
      message: expect.stringContaining('is renegotiated'),
    });
  });

  test('a document that was added after everything was prepared goes along', async () => {
    const { store, documents, process } = await worldWith('L1');
    const late = {
      ...receiveL1.documents[0]!,
      documentId: 'd-2',
      value: 'late.pdf',
      sha256: 'dd'.repeat(32),
    };
    documents.stored.add(`${streamOf('L1')}/${late.sha256}`);
    const copy = documents.copy.bind(documents);
    let added = false;
    documents.copy = async (from, to, sha256) => {
      if (!added) {
        added = true;
        await command(process.commands, 'L1', { type: 'AddDocuments', documents: [late], now: NOW });
      }
      return copy(from, to, sha256);
    };
    await process.renegotiation.renegotiate(context(), renegotiation());
    const received = (await eventsOf(store, streamOf('N1'))).find((event) => event.type === 'LoanReceived');
    expect(received?.documents.map(({ value }) => value)).toEqual(
      ['ccb.pdf', 'late.pdf'].map((name) => sealedName(streamOf('N1'), name)),
    );
    expect(documents.stored).toContain(`${streamOf('N1')}/${late.sha256}`);
  });

  test('the new operation cannot be rejected, but goes the ordinary way and can be renegotiated in its turn', async () => {
    const { process } = await worldWith('L1');
    await process.renegotiation.renegotiate(context(), renegotiation());
    await expect(
      command(process.commands, 'N1', { type: 'RejectLoan', reasons: [], now: NOW }),
    ).rejects.toMatchObject({ code: 'operation_invalid_state' });
    for (const step of activation) await command(process.commands, 'N1', step);
    const next = renegotiation(['N1'], { newProposal: newProposal({ code: loanCode('N2') }) });
    await process.renegotiation.renegotiate(context(), next);
    expect(await statusOf(process, 'N1')).toBe('renegotiated');
  });

  test('a code that a failed renegotiation had reserved is free again', async () => {
    const { store, process } = await worldWith('L1');
    const bad = newProposal({ dateIssued: calendarDate('2027-01-01') });
    const attempt = process.renegotiation.renegotiate(context(), renegotiation(['L1'], { newProposal: bad }));
    await expect(attempt).rejects.toMatchObject({ code: 'validation_error' });
    expect(await typesOf(store, 'N1')).toEqual(['LoanReserved', 'LoanReservationReleased']);
    await pay(process.commands, 'L1', '001');
    await process.renegotiation.renegotiate(context(), renegotiation());
    expect(await statusOf(process, 'N1')).toBe('received');
  });

  test('an operation can be assigned under a code that was only reserved', async () => {
    const { process } = await worldWith('L1');
    const bad = newProposal({ dateIssued: calendarDate('2027-01-01') });
    await process.renegotiation
      .renegotiate(context(), renegotiation(['L1'], { newProposal: bad }))
      .catch(() => undefined);
    await command(process.commands, 'N1', { ...receiveL1, code: loanCode('N1') });
    expect(await statusOf(process, 'N1')).toBe('received');
  });
});

describe('renegotiate several operations', () => {
  test('all of them leave for one new operation with its own documents', async () => {
    const { store, documents, process } = await worldWith('L2', 'L1', 'L3');
    const { result } = await process.renegotiation.renegotiate(
      context(),
      renegotiation(['L2', 'L1', 'L3'], withDocument()),
    );
    expect(result.originalProposalCodes).toEqual(['L2', 'L1', 'L3']);
    for (const code of ['L1', 'L2', 'L3']) expect(await statusOf(process, code)).toBe('renegotiated');
    expect(await typesOf(store, 'N1')).toEqual(['LoanReserved', 'LoanReceived']);
    expect(documents.stored).toContain(`${streamOf('N1')}/${'cc'.repeat(32)}`);
  });

  test('borrowers that differ have to be told apart by the request, which is looked at last', async () => {
    const { documents, process } = await worldWith('L1', 'L3');
    await activeLoan(process, documents, 'L2', { borrower: { ...ana, document_number: '11144477735' } });
    const renegotiated = (asked: AskedRenegotiation) => process.renegotiation.renegotiate(context(), asked);
    const both = renegotiation(['L1', 'L2'], withDocument());
    await expect(renegotiated(both)).rejects.toMatchObject({
      code: 'validation_error',
      details: [{ code: 'ambiguous_borrower' }],
    });
    const usedCode = { ...both, newProposalCode: loanCode('L3') };
    await expect(renegotiated(usedCode)).rejects.toMatchObject({ code: 'proposal_code_already_used' });
    const named = { ...both, borrower: ana };
    expect((await renegotiated(named)).replayed).toBe(false);
  });

  test('a borrower who was forgotten is not taken over, though the key is still in use here', async () => {
    const { store, documents, process } = await worldWith('L1');
    const refused = { code: 'operation_invalid_state', message: expect.stringContaining('was forgotten') };
    const forget = () => command(process.commands, 'L1', { type: 'ForgetBorrower', now: NOW });
    const asked = renegotiation(['L1'], withDocument());
    const put = documents.put.bind(documents);
    documents.put = async (stream, file) => {
      await forget();
      return put(stream, file);
    };
    await expect(process.renegotiation.renegotiate(context(), asked)).rejects.toMatchObject(refused);
    await expect(process.renegotiation.quote(context(), asked)).rejects.toMatchObject(refused);
    expect([await statusOf(process, 'L1'), await typesOf(store, 'N1')]).toEqual([
      'active',
      ['LoanReserved', 'LoanReservationReleased'],
    ]);
    const named = { ...asked, borrower: ana };
    expect((await process.renegotiation.renegotiate(context(), named)).replayed).toBe(false);
  });

  test('one that may not be renegotiated keeps all of them as they are', async () => {
    const { store, process } = await worldWith('L1', 'L2');
    await command(process.commands, 'L2', requestRepurchase('repurchase'));
    await expect(
      process.renegotiation.renegotiate(context(), renegotiation(['L1', 'L2'], withDocument())),
    ).rejects.toMatchObject({
      code: 'operation_invalid_state',
      message: expect.stringContaining('L2 is repurchase_pending'),
    });
    expect(await statusOf(process, 'L1')).toBe('active');
    expect(await typesOf(store, 'N1')).toEqual([]);
  });
});

describe('what is refused', () => {
  const refused: readonly (readonly [string, string, AskedRenegotiation])[] = [
    ['an unknown original', 'loan_not_found', renegotiation(['L1', 'L9'])],
    ['an original twice', 'validation_error', renegotiation(['L1', 'L1'])],
    ['a new code that is an original', 'validation_error', renegotiation(['L1', 'N1'])],
    [
      'a date before the issue',
      'invalid_date',
      renegotiation(['L1'], { effectiveDate: calendarDate('2026-01-14') }),
    ],
    [
      'a used code',
      'proposal_code_already_used',
      renegotiation(['L1'], { newProposal: newProposal({ code: loanCode('L2') }) }),
    ],
    ['another kind of document', 'invalid_document_type', renegotiation(['L1'], withDocument('ccb'))],
    ['a document without its file', 'missing_file', renegotiation(['L1'], { ...withDocument(), files: [] })],
  ];
  test.each(refused)('%s: %s, and nothing is written', async (_, code, input) => {
    const { store, process } = await worldWith('L1', 'L2');
    const before = (await logOf(store)).length;
    const refusal = await process.renegotiation
      .renegotiate(context(), input)
      .catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code });
    if (code === 'loan_not_found') expect(refusal).toMatchObject({ message: expect.stringContaining('L9') });
    expect(await logOf(store)).toHaveLength(before);
  });

  test('originals of different funds, and funds of somebody else', async () => {
    const { documents, process } = await worldWith('L1');
    const fundId = '11111111-1111-4111-8111-111111111111' as FundId;
    await activeLoan(process, documents, 'L2', { fundId });
    const both = renegotiation(['L1', 'L2'], withDocument());
    await expect(process.renegotiation.renegotiate(context(), both)).rejects.toMatchObject({
      code: 'fund_not_allowed',
      details: [{ field: 'original_proposal_codes[1]' }],
    });
    const owner = { ...context(), fundIds: [...context().fundIds, fundId] };
    await expect(process.renegotiation.renegotiate(owner, both)).rejects.toMatchObject({
      code: 'validation_error',
      details: [{ code: 'different_funds' }],
    });
  });

  test('an operation of another application does not exist', async () => {
    const { process } = await worldWith('L1');
    await expect(process.renegotiation.renegotiate(context('app-2'), renegotiation())).rejects.toMatchObject({
      code: 'loan_not_found',
    });
  });

  test('documents that are gone', async () => {
    const { documents, process } = await worldWith('L1');
    documents.stored.clear();
    await expect(process.renegotiation.renegotiate(context(), renegotiation())).rejects.toMatchObject({
      code: 'operation_invalid_state',
      message: expect.stringContaining('document d-1'),
    });
  });
});

test('the coordinator tells in its own stream how it was decided', async () => {
  const { store, process } = await worldWith('L1');
  await process.renegotiation.renegotiate(context(), renegotiation());
  const log = await logOf(store);
  const coordinator = log.filter(({ stream }) => stream.startsWith(RENEGOTIATION_STREAM_PREFIX));
  expect(coordinator.map(({ type }) => type)).toEqual([
    'renegotiation.started.v1',
    'renegotiation.committed.v1',
  ]);
  expect(findBrokenLink(coordinator[0]!.stream, coordinator)).toBe(-1);
  expect(coordinator[1]!.metadata).toMatchObject({
    actor: 'client-1',
    correlationId: 'req-1',
    applicationId: 'app-1',
  });
});
