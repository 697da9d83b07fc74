import { describe, expect, test } from '@jest/globals';
import { borrowerDigest, isDocument } from '../../../application/privacy/forget-borrower.ts';
import { IndexBorrowers } from '../../../application/privacy/index-borrowers.ts';
import type { BorrowerIndexEntry } from '../../../application/ports/borrower-vault.ts';
import type { LogPosition } from '../../../application/ports/event-store.ts';
import { openVault } from '../../support/application-parts.ts';
import { activate, postAssignment, receive, streamOf } from '../../support/post-assignment.ts';
import { ana } from '../../support/renegotiation-world.ts';

describe('borrowers that came before their index', () => {
  test('are entered by walking the log, once', async () => {
    const world = postAssignment();
    await activate(world);
    await receive(world, 'L2');
    const entries: BorrowerIndexEntry[] = [];
    let checkpoint: LogPosition | 'start' = 'start';
    let passed = 0;
    const indexing = new IndexBorrowers({
      subscription: world.store,
      checkpoints: {
        load: async () => checkpoint,
        advance: async (_name, expected, position) => {
          if (expected !== checkpoint) return false;
          checkpoint = position;
          return true;
        },
      },
      vault: openVault,
      index: { add: async (added) => void entries.push(...added) },
    });
    await indexing.completeOnce((events) => (passed += events));
    const digest = borrowerDigest(openVault, ana.document_number);
    expect(entries).toEqual([
      { digest, stream: streamOf() },
      { digest, stream: streamOf('L2') },
    ]);
    expect([passed, checkpoint === 'start']).toEqual([5, false]);
    await indexing.completeOnce(() => (passed += 1));
    expect([entries.length, passed]).toEqual([2, 5]);
  });
});

describe('a document', () => {
  test('is the same however it is written', () => {
    const digests = ['529.982.247-25', '52998224725', ' 529 982 247 25'].map((text) =>
      borrowerDigest(openVault, text),
    );
    expect(new Set(digests).size).toBe(1);
  });

  test.each([
    ['52998224725', true],
    ['12ABC34501DE35', true],
    ['5299822472', false],
    ['', false],
    ['529982247250', false],
  ])('%j has the form of one: %s', (text, expected) => expect(isDocument(text)).toBe(expected));
});
