import { describe, expect, test } from '@jest/globals';
import { borrowerDigest, isDocument } from '../../../application/privacy/forget-borrower.ts';
import { Privacy } from '../../../application/privacy/privacy.ts';
import type { BorrowerIndexEntry } from '../../../application/privacy/borrower-index.ts';
import type { EventSubscription } from '../../../application/ports/event-store.ts';
import { openVault } from '../../support/application-parts.ts';
import { MemoryCheckpoints } from '../../support/log-followers.ts';
import { activate, postAssignment, receive, streamOf } from '../../support/post-assignment.ts';
import { ana } from '../../support/renegotiation-world.ts';

describe('borrowers that came before their index', () => {
  test('are entered by walking the log, once', async () => {
    const world = postAssignment();
    await activate(world);
    await receive(world, 'L2');
    const entries: BorrowerIndexEntry[] = [];
    const checkpoints = new MemoryCheckpoints();
    let passed = 0;
    const log: EventSubscription = {
      subscribe: async function* (options) {
        for await (const message of world.store.subscribe(options)) {
          if (message.kind === 'events') passed += message.events.length;
          yield message;
        }
      },
    };
    const privacy = new Privacy({
      log,
      checkpoints,
      vault: openVault,
      index: { add: async (added: readonly BorrowerIndexEntry[]) => void entries.push(...added) },
    } as never);
    await privacy.index();
    const digest = borrowerDigest(openVault, ana.document_number);
    expect(entries).toEqual([
      { digest, stream: streamOf() },
      { digest, stream: streamOf('L2') },
    ]);
    expect([passed, checkpoints.positions.size]).toEqual([5, 1]);
    await privacy.index();
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
