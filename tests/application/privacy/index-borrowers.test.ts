import { describe, expect, test } from '@jest/globals';
import { borrowerDigest, isDocument } from '../../../application/privacy/forget-borrower.ts';
import { Privacy } from '../../../application/privacy/privacy.ts';
import type { BorrowerIndexEntry } from '../../../application/privacy/borrower-index.ts';
import { BrokenSealError } from '../../../application/ports/borrower-vault.ts';
import { metadataOf } from '../../../application/event-codec/event-codec.ts';
import type { BorrowerVault } from '../../../application/ports/borrower-vault.ts';
import type { EventSubscription, JsonText, RecordedEvent } from '../../../application/ports/event-store.ts';
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

describe('an operation that cannot be read', () => {
  const setUp = async (
    damage: (event: RecordedEvent) => RecordedEvent,
    vault: Partial<BorrowerVault> = {},
  ) => {
    const world = postAssignment();
    for (const code of ['L1', 'L2', 'L3']) await receive(world, code);
    let walks = 0;
    let mended = false;
    const log: EventSubscription = {
      subscribe: async function* (options) {
        if (options.from === 'start') walks++;
        for await (const message of world.store.subscribe({ ...options, batchSize: 1 }))
          yield message.kind === 'events' && !mended
            ? {
                ...message,
                events: message.events.map((event) =>
                  event.stream === streamOf('L2') ? damage(event) : event,
                ),
              }
            : message;
      },
    };
    const entered = new Set<string>();
    const checkpoints = new MemoryCheckpoints();
    const privacy = new Privacy({
      ...{ log, checkpoints },
      vault: { ...openVault, ...vault },
      index: {
        add: async (added: readonly BorrowerIndexEntry[]) =>
          added.forEach(({ stream }) => entered.add(stream)),
        streamsOf: async () => [...entered],
      },
    } as never);
    return { privacy, checkpoints, entered, walks: () => walks, mend: () => (mended = true) };
  };
  const others = [streamOf('L1'), streamOf('L3')];
  const garbled = (event: RecordedEvent): RecordedEvent => ({ ...event, data: '{}' as JsonText });

  test.each<[string, (event: RecordedEvent) => RecordedEvent, Partial<BorrowerVault>]>([
    ['whose event is not what its type says', garbled, {}],
    ['with what is no event', (event) => ({ ...event, metadata: metadataOf('{') }), {}],
    [
      'whose sealed data was changed',
      (event) => event,
      {
        open: async (stream, sealed) => {
          if (stream === streamOf('L2')) throw new BrokenSealError(stream);
          return openVault.open(stream, sealed);
        },
      },
    ],
  ])('%s keeps no other from the index, and is named', async (_, damage, vault) => {
    const { privacy, entered } = await setUp(damage, vault);
    expect(await privacy.index()).toEqual([streamOf('L2')]);
    expect([...entered]).toEqual(others);
    expect(await privacy.streamsOf(ana.document_number)).toEqual(others);
  });

  test('makes a process walk the log once, and is entered by the next walk once it can be read', async () => {
    const { privacy, checkpoints, entered, walks, mend } = await setUp(garbled);
    for (const _ of [1, 2, 3]) await privacy.streamsOf(ana.document_number);
    expect([walks(), checkpoints.positions.size]).toEqual([1, 0]);
    mend();
    expect(await privacy.index()).toEqual([]);
    expect([entered.size, checkpoints.positions.size]).toEqual([3, 1]);
  });

  test('is not what a log is that does not answer: that question fails, and the next asks anew', async () => {
    let away = true;
    const { privacy, walks } = await setUp((event) => {
      if (away) throw new Error('the log is away');
      return event;
    });
    await expect(privacy.streamsOf(ana.document_number)).rejects.toThrow('away');
    away = false;
    expect(await privacy.streamsOf(ana.document_number)).toHaveLength(3);
    expect(walks()).toBe(2);
  });

  test('has no masked document, and takes none from the operations beside it', async () => {
    const open = async (stream: string) => Promise.reject(new BrokenSealError(stream));
    const { privacy } = await setUp(garbled, { open });
    expect(await privacy.maskedDocument({ stream: streamOf(), borrower: 'sealed' })).toBeNull();
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
