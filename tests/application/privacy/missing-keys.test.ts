import { describe, expect, test } from '@jest/globals';
import { ForgetBorrower, borrowerDigest } from '../../../application/privacy/forget-borrower.ts';
import { Privacy } from '../../../application/privacy/privacy.ts';
import { KeyMissingError } from '../../../application/privacy/missing-keys.ts';
import { chainHash } from '../../../application/event-codec/event-codec.ts';
import type { BorrowerVault } from '../../../application/ports/borrower-vault.ts';
import type { BorrowerIndexEntry } from '../../../application/privacy/borrower-index.ts';
import type { SealedBorrower } from '../../../domain/shared/identifiers.ts';
import type { Sealed } from '../../../domain/shared/private-text.ts';
import { sampleEvent } from '../../contracts/event-store-samples.ts';
import { ALONE, fixedClock } from '../../support/application-parts.ts';
import { SealedBorrowerVault } from '../../../infrastructure/security/sealed-borrower-vault.ts';
import { InMemoryEventStore } from '../../support/in-memory-event-store.ts';
import { receiveL1 } from '../../domain/support/loan-story.ts';
import { activate, postAssignment, receive, streamOf } from '../../support/post-assignment.ts';
import type { PostAssignment } from '../../support/post-assignment.ts';
import { ana } from '../../support/renegotiation-world.ts';

const SEALED = 'sealed' as SealedBorrower;
const TEXT = { sealed: 'sealed' } as Sealed;

const KEY = { id: '0123456789abcdef', bytes: Buffer.alloc(32, 1) };

/** The operations' keys are gone, but for those named; entries are looked up by their digest, where they have one. */
const setUp = (kept: ReadonlySet<string> = new Set(), entries: BorrowerIndexEntry[] = []) => {
  const deleted: string[] = [];
  const store = new InMemoryEventStore();
  const told: string[] = [];
  const vault = new SealedBorrowerVault({
    keys: { key: async () => KEY, find: async (stream) => (kept.has(stream) ? KEY : undefined) },
    digestKey: Buffer.alloc(32, 4),
    index: { add: async () => undefined },
    formats: ALONE,
    events: store,
    onMissing: ({ stream }) => void told.push(stream),
  });
  const world = postAssignment({ store, vault });
  const forgetting = new ForgetBorrower({
    commands: world.commands,
    events: store,
    index: {
      streamsOf: async (digest) =>
        entries.filter((one) => one.digest === '' || one.digest === digest).map(({ stream }) => stream),
      entriesOf: async () => entries,
      remove: async () => void entries.pop(),
    },
    keys: { forget: async (stream) => void deleted.push(stream), forgetOlder: async () => undefined },
    documents: { remove: async (_, sha256) => void deleted.push(sha256) },
    vault,
    clock: fixedClock(),
    realClock: { realNow: () => '2026-06-20T12:00:00.000Z' as never },
    pause: async () => undefined,
  });
  return { world, told, vault, deleted, forgetting };
};

/** Each thing that only the key can do. */
const uses: Readonly<Record<string, (vault: BorrowerVault) => Promise<unknown>>> = {
  'opening the borrower': (vault) => vault.open(streamOf(), SEALED),
  'opening a text': (vault) => vault.openTexts(streamOf(), [TEXT]),
  'sealing a text': (vault) => vault.sealText(streamOf(), 'a remark'),
  'sealing a name': (vault) => vault.sealNames(streamOf(), ['ccb.pdf']),
};

test('a key that is gone for good is given up by forgetting its borrower: the log has the record, and nothing is a fault any more', async () => {
  const { world, vault, forgetting: giving } = setUp(new Set(), [{ digest: '', stream: streamOf() }]);
  await activate(world);
  await expect(vault.open(streamOf(), SEALED)).rejects.toThrow(KeyMissingError);
  const [found] = (await giving.find(ana.document_number)).operations;
  expect(found).toMatchObject({ code: 'L1', status: 'active', forgottenAt: null });
  await giving.forget(ana.document_number, found!, { requestId: 'r', reason: 'key lost' });
  expect(await vault.open(streamOf(), SEALED)).toBeUndefined();
  expect(await giving.find(ana.document_number)).toEqual({ operations: [], unreadable: [] });
});

describe('an operation of which an event cannot be read', () => {
  test('is forgotten where that is asked for: the record goes behind that event, once, and then key, documents and entry', async () => {
    const entries = [{ digest: '', stream: streamOf() }];
    const { forgetting, deleted, world } = setUp(new Set([streamOf()]), entries);
    await activate(world);
    const unreadable = { ...sampleEvent(), type: 'loan.something_new.v1' };
    await world.store.append(streamOf(), await world.store.head(streamOf()), [unreadable]);
    const [found, ...others] = (await forgetting.find(ana.document_number)).operations;
    expect([found, others]).toMatchObject([
      { code: 'L1', status: 'unreadable', open: true, forgottenAt: null },
      [],
    ]);
    for (const run of ['first', 'second'])
      await forgetting.forget(ana.document_number, found!, { requestId: run, reason: 'request 7' });
    const { events } = await world.store.read(streamOf());
    const records = events.filter(({ type }) => type === 'loan.borrower_forgotten.v1');
    expect(records.map(({ data }) => JSON.parse(data))).toMatchObject([{ reason: 'request 7' }]);
    const { fundId } = events[0]!.metadata;
    const metadata = { actor: 'privacy', correlationId: 'first', applicationId: 'app-1', fundId };
    expect(records[0]!.metadata).toMatchObject(metadata);
    const { hash, ...covered } = records[0]!.metadata;
    expect(hash).toBe(
      chainHash(unreadable.metadata.hash, streamOf(), { ...events.at(-1)!, metadata: covered }),
    );
    const contents = receiveL1.documents.map(({ sha256 }) => sha256);
    expect(new Set(deleted)).toEqual(new Set([streamOf(), ...contents]));
    expect(entries).toEqual([]);
  });

  test('is left where it may be of another, as an attempt that was refused left an entry as well', async () => {
    const entries = [
      { digest: '', stream: streamOf() },
      { digest: 'of another', stream: streamOf() },
    ];
    const { forgetting, world } = setUp(new Set(), entries);
    await world.store.append(streamOf(), 'no_stream', [sampleEvent()]);
    const found = await forgetting.find(ana.document_number);
    expect(found).toEqual({ operations: [], unreadable: [streamOf()] });
  });
});

describe('an operation whose key is lost, and the entry that finds it as well', () => {
  const place = { applicationId: 'app-1', code: 'L1' };
  const giveUp = async (kept: ReadonlySet<string>, entries: BorrowerIndexEntry[] = []) => {
    const { world, ...all } = setUp(kept, entries);
    await receive(world);
    return { world, ...all };
  };
  const types = async (world: PostAssignment) =>
    (await world.store.read(streamOf())).events.map(({ type }) => type);

  test('is given up by its code: on record once, with what else is left of it', async () => {
    const entries = ['one', 'another'].map((digest) => ({ digest, stream: streamOf() }));
    const { world, vault, deleted, forgetting } = await giveUp(new Set(), entries);
    expect(await forgetting.find(ana.document_number)).toEqual({ operations: [], unreadable: [] });
    expect(await forgetting.findLost(place)).toMatchObject({ ...place, open: true, forgottenAt: null });
    for (const requestId of ['first', 'again']) await forgetting.forgetLost(place, { requestId });
    expect(await types(world)).toEqual(['loan.received.v1', 'loan.borrower_forgotten.v1']);
    expect(deleted.slice(0, 2)).toEqual([streamOf(), receiveL1.documents[0]!.sha256]);
    expect(entries).toEqual([]);
    expect(await vault.open(streamOf(), SEALED)).toBeUndefined();
    expect(await forgetting.findLost(place)).toMatchObject({ forgottenAt: expect.any(String) });
  });

  test('is not given up while its key is there, nor is one that does not exist', async () => {
    const { world, deleted, forgetting } = await giveUp(new Set([streamOf()]));
    const refused = { code: 'operation_invalid_state', message: expect.stringContaining('--document') };
    await expect(forgetting.findLost(place)).rejects.toMatchObject(refused);
    await expect(forgetting.forgetLost(place, { requestId: 'r' })).rejects.toMatchObject(refused);
    expect([await types(world), deleted]).toEqual([['loan.received.v1'], []]);
    const unknown = { ...place, code: 'L9' };
    await expect(forgetting.findLost(unknown)).rejects.toMatchObject({ code: 'loan_not_found' });
  });

  test('an attempt that was refused does not make the operation of another borrower one of theirs', async () => {
    const digestOf = (number: string) => borrowerDigest(setUp().vault, number);
    const digests = [digestOf(ana.document_number), digestOf('39053344705')];
    const entries = digests.map((digest) => ({ digest, stream: streamOf() }));
    const { forgetting } = await giveUp(new Set([streamOf()]), entries);
    expect(await forgetting.find('39053344705')).toEqual({ operations: [], unreadable: [] });
    expect(await forgetting.find(ana.document_number)).toMatchObject({ operations: [place] });
  });
});

describe.each(Object.entries(uses))('%s with a key that is gone', (_, use) => {
  test('is a fault where no borrower was forgotten, and is told', async () => {
    const { world, told, vault } = setUp();
    await activate(world);
    await expect(use(vault)).rejects.toThrow(KeyMissingError);
    await expect(use(vault)).rejects.toThrow(/operation:loan-app-1\.L1.*KeysMissing/);
    expect(told).toEqual([streamOf(), streamOf()]);
  });

  test('has nothing to give where the log says that the borrower was forgotten', async () => {
    const { world, told, vault, forgetting } = setUp();
    await activate(world);
    const place = { applicationId: 'app-1', code: 'L1' };
    await forgetting.forget(ana.document_number, place, { requestId: 'request' });
    expect([(await use(vault)) ?? undefined].flat()).toEqual([undefined]);
    expect(told).toEqual([]);
  });

  test('says nothing of a code that has no operation', async () => {
    const { told, vault } = setUp();
    expect([(await use(vault)) ?? undefined].flat()).toEqual([undefined]);
    expect(told).toEqual([]);
  });
});

test('a row that was emptied is not looked up at all', async () => {
  const { world, vault } = setUp();
  await activate(world);
  expect(await vault.open(streamOf(), '' as SealedBorrower)).toBeUndefined();
});

test('operations whose keys are lost are not entered, and looked for again on the next run', async () => {
  const kept = new Set([streamOf('L2')]);
  const { world, vault } = setUp(kept);
  await receive(world);
  await receive(world, 'L2');
  const entries: BorrowerIndexEntry[] = [];
  let advanced = 0;
  const privacy = new Privacy({
    log: world.store,
    checkpoints: {
      load: async () => 'start' as const,
      move: async () => ((advanced += 1), true),
      list: async () => [],
    },
    vault,
    index: { add: async (added: readonly BorrowerIndexEntry[]) => void entries.push(...added) },
  } as never);
  await privacy.index();
  expect([entries.map(({ stream }) => stream), advanced]).toEqual([[streamOf('L2')], 0]);
  kept.add(streamOf());
  await privacy.index();
  expect([entries.map(({ stream }) => stream).sort(), advanced]).toEqual([
    [streamOf(), streamOf('L2'), streamOf('L2')],
    1,
  ]);
});
