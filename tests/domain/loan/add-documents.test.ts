import { describe, expect, test } from '@jest/globals';
import { loanDecider } from '../../../domain/loan/index.ts';
import type { AddDocuments, LoanDocument, LoanEvent } from '../../../domain/loan/index.ts';
import { stateAfter } from '../../../domain/shared/decider.ts';
import { specFor } from '../../support/decider-spec.ts';
import { NOW, activated, received, rejected, repurchaseRequested } from '../support/loan-story.ts';

const { given } = specFor(loanDecider);
const document = (value: string, more: Partial<LoanDocument> = {}): LoanDocument => ({
  documentId: `id of ${value}`,
  type: 'invoice',
  value,
  sha256: 'cd'.repeat(32),
  size: 7,
  receivedAt: NOW,
  ...more,
});
const add = (...documents: readonly LoanDocument[]): AddDocuments => ({
  type: 'AddDocuments',
  documents,
  now: NOW,
});
const added = (...documents: readonly LoanDocument[]): LoanEvent => ({
  type: 'DocumentsAdded',
  documents,
  addedAt: NOW,
});
const terms = {
  renegotiationId: 'r-1',
  originalProposalCodes: ['L0'],
  newProposalCode: 'L1',
  effectiveDate: '2026-06-20',
} as never;
/** The document that `received` has already. */
const present = received.documents[0]!;
const signature = document('signed.pdf', { type: 'renegotiation_signature' });

describe('add documents', () => {
  test.each([
    ['received', [received]],
    ['active', activated],
    ['on its way out', [...activated, repurchaseRequested('repurchase')]],
  ])('an operation that is %s takes them', (_, story) => {
    given(...story)
      .when(add(document('a.pdf'), document('b.pdf')))
      .then(added(document('a.pdf'), document('b.pdf')));
  });

  test('they stand in the state beside those of the reception', () => {
    const state = stateAfter(loanDecider, [...activated, added(document('a.pdf'))]);
    expect('documents' in state && state.documents.map(({ value }) => value)).toEqual(['ccb.pdf', 'a.pdf']);
  });

  test('what is there by name, type and content is not added again, also not under another id', () => {
    given(received, added(document('a.pdf')))
      .when(add({ ...present, documentId: 'new' }, document('a.pdf'), document('b.pdf')))
      .then(added(document('b.pdf')));
    given(received)
      .when(add({ ...present, documentId: 'new' }))
      .thenNothing();
  });

  test.each<[string, Partial<LoanDocument>]>([
    ['other content', { sha256: 'ee'.repeat(32) }],
    ['another type', { type: 'invoice' }],
  ])('a name that is taken, with %s, conflicts', (_, change) => {
    given(...activated)
      .when(add(document('b.pdf'), { ...present, ...change }))
      .thenRefused('idempotency_conflict', /documents\[1\]\.value/);
  });

  test('an unknown operation, and a rejected one, take none; what was there stays a replay', () => {
    given()
      .when(add(document('a.pdf')))
      .thenRefused('loan_not_found');
    given(received, rejected)
      .when(add(document('a.pdf')))
      .thenRefused('operation_invalid_state', /rejected/);
    given(received, rejected).when(add(present)).thenNothing();
  });

  test('a signature needs a renegotiation, on either side of it', () => {
    given(...activated)
      .when(add(signature))
      .thenRefused('operation_invalid_state', /renegotiation_signature/);
    given({ ...received, renegotiation: terms })
      .when(add(signature))
      .then(added(signature));
    given(
      ...activated,
      { type: 'LoanReserved', renegotiationId: 'r-1' as never, leaseEndsAt: NOW as never },
      { type: 'LoanRenegotiated', renegotiation: terms, renegotiatedAt: NOW },
    )
      .when(add(signature))
      .then(added(signature));
  });
});
