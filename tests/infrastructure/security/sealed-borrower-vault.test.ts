import { describe, expect, test } from '@jest/globals';
import { createHmac } from 'node:crypto';
import type { Borrower } from '../../../application/ports/borrower-vault.ts';
import type { BorrowerIndexEntry } from '../../../application/privacy/borrower-index.ts';
import type { SealedBorrower } from '../../../domain/shared/identifiers.ts';
import type { Sealed, SealedName } from '../../../domain/shared/private-text.ts';
import { OperationKeys } from '../../../infrastructure/security/operation-keys.ts';
import { SealedBorrowerVault } from '../../../infrastructure/security/sealed-borrower-vault.ts';
import { BrokenSealError } from '../../../application/ports/borrower-vault.ts';
import { InMemoryEventStore } from '../../support/in-memory-event-store.ts';
import { InMemoryKeyStore, sealedKeys } from '../../support/in-memory-key-store.ts';
import { ALONE, BESIDE_EARLIER } from '../../support/application-parts.ts';

const STREAM = 'loan-app.P-1';
const borrower: Borrower = {
  document_number: '12345678909',
  document_type: 'CPF',
  name: 'José da Conceição',
  birth_date: '1980-02-29',
  address: { zip_code: '01310100', street: 'Av. Paulista', number: '1', city: 'São Paulo', state: 'SP' },
};

const wrappingKey = Buffer.alloc(32, 3);
const digestKey = Buffer.alloc(32, 4);
const setUp = (store = new InMemoryKeyStore(), formats = ALONE) => {
  const keys = new OperationKeys(sealedKeys(store, wrappingKey));
  const indexed: BorrowerIndexEntry[] = [];
  const index = { add: async (entries: readonly BorrowerIndexEntry[]) => void indexed.push(...entries) };
  const events = new InMemoryEventStore();
  const vault = new SealedBorrowerVault({
    ...{ keys, digestKey, index, formats, events },
    onMissing: () => undefined,
  });
  return { store, keys, indexed, vault };
};

describe('texts and names about an operation', () => {
  const names = ['CCB José 123.456.789-09.pdf', 'b.pdf', 'CCB José 123.456.789-09.pdf'];

  test('are sealed with the key of its borrower, and opened in their order', async () => {
    const { store, vault } = setUp();
    await vault.seal(STREAM, borrower);
    const sealed = (await vault.sealNames(STREAM, names)) as readonly SealedName[];
    expect(JSON.stringify(sealed)).not.toMatch(/José|123\.456|\.pdf/);
    expect(await setUp(store).vault.openTexts(STREAM, sealed)).toEqual(names);
    const remark = (await vault.sealText(STREAM, 'he asked for it')) as Sealed;
    expect(await vault.openTexts(STREAM, [remark])).toEqual(['he asked for it']);
  });

  test('equal names have equal digests, in this operation only', async () => {
    const { store, vault } = setUp();
    for (const stream of [STREAM, 'loan-app.P-2']) await vault.seal(stream, borrower);
    const [first, other, again] = (await vault.sealNames(STREAM, names)) as readonly SealedName[];
    expect([first!.digest === again!.digest, first!.digest === other!.digest]).toEqual([true, false]);
    expect(first!.sealed).not.toBe(again!.sealed);
    const [elsewhere] = (await vault.sealNames('loan-app.P-2', names)) as readonly SealedName[];
    expect(elsewhere!.digest).not.toBe(first!.digest);
    expect(((await setUp(store).vault.sealNames(STREAM, names)) as readonly SealedName[])[0]!.digest).toBe(
      first!.digest,
    );
  });

  test('never make a key: without one nothing is sealed, and what was sealed stays closed', async () => {
    const { store, keys, vault } = setUp();
    expect(await vault.sealText(STREAM, 'text')).toBeUndefined();
    expect(await vault.sealNames(STREAM, names)).toBeUndefined();
    expect(await store.get(`operation:${STREAM}`)).toBeUndefined();
    await vault.seal(STREAM, borrower);
    const sealed = (await vault.sealNames(STREAM, names)) as readonly SealedName[];
    await keys.forget(STREAM);
    expect(await vault.openTexts(STREAM, sealed)).toEqual([undefined, undefined, undefined]);
    expect(await vault.sealText(STREAM, 'text')).toBeUndefined();
  });

  test('stay plain beside processes that could not open them, where there is a key', async () => {
    const { vault } = setUp(undefined, BESIDE_EARLIER);
    expect(await vault.sealNames(STREAM, names)).toBeUndefined();
    await vault.seal(STREAM, borrower);
    expect(await vault.sealNames(STREAM, names)).toEqual(names);
    expect(await vault.sealText(STREAM, 'he asked for it')).toBe('he asked for it');
  });

  test('do not open as a borrower, nor in another operation', async () => {
    const { vault } = setUp();
    await vault.seal(STREAM, borrower);
    const { sealed } = (await vault.sealText(STREAM, JSON.stringify(borrower))) as Sealed;
    await expect(vault.open(STREAM, sealed as never)).rejects.toThrow(BrokenSealError);
    await vault.seal('loan-app.P-2', borrower);
    expect(await vault.openTexts('loan-app.P-2', [{ sealed }])).toEqual([undefined]);
  });
});

describe('sealed borrower vault', () => {
  test('opens in this process and in another what it sealed, and shows nothing of it', async () => {
    const { store, vault } = setUp();
    const sealed = await vault.seal(STREAM, borrower);
    expect(sealed).not.toMatch(/12345678909|Jos/);
    expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toContain('12345678909');
    expect(await vault.open(STREAM, sealed)).toEqual(borrower);
    expect(await setUp(store).vault.open(STREAM, sealed)).toEqual(borrower);
  });

  test('who it was can be found by the document alone, and not be read from the index', async () => {
    const { indexed, vault } = setUp();
    await vault.seal(STREAM, borrower);
    await vault.seal('loan-app.P-2', { ...borrower, name: 'Another spelling' });
    expect(indexed.map(({ stream }) => stream)).toEqual([STREAM, 'loan-app.P-2']);
    expect(indexed[0]?.digest).toBe(indexed[1]?.digest);
    expect(indexed[0]?.digest).toMatch(/^[0-9a-f]{64}$/);
  });

  test('the key is stored, wrapped, before sealing resolves', async () => {
    const { store, vault } = setUp();
    await vault.seal(STREAM, borrower);
    expect([...store.keys.keys()]).toEqual([`operation:${STREAM}`]);
    expect(store.keys.get(`operation:${STREAM}`)?.wrapped).toMatch(/^v1\./);
    store.failure = new Error('disk full');
    await expect(vault.seal('loan-app.P-2', borrower)).rejects.toThrow('disk full');
  });

  test('a sealed borrower does not open in another operation', async () => {
    const { vault } = setUp();
    const sealed = await vault.seal(STREAM, borrower);
    await vault.seal('loan-app.P-2', borrower);
    expect(await vault.open('loan-app.P-2', sealed)).toBeUndefined();
  });

  test('a key moved to another operation does not unwrap there', async () => {
    const { store, vault } = setUp();
    const sealed = await vault.seal(STREAM, borrower);
    const kept = store.keys.get(`operation:${STREAM}`);
    if (kept !== undefined) store.keys.set('operation:loan-app.P-2', kept);
    await expect(setUp(store).vault.open('loan-app.P-2', sealed)).rejects.toThrow(BrokenSealError);
  });

  test('tampering is noticed', async () => {
    const { vault } = setUp();
    const sealed = await vault.seal(STREAM, borrower);
    const changed = (sealed.slice(0, -2) + (sealed.endsWith('AA') ? 'BB' : 'AA')) as SealedBorrower;
    await expect(vault.open(STREAM, changed)).rejects.toThrow(BrokenSealError);
  });

  test('forgetting the key is forgetting the borrower, also after a new key was made', async () => {
    const { keys, vault } = setUp();
    const sealed = await vault.seal(STREAM, borrower);
    await keys.forget(STREAM);
    expect(await vault.open(STREAM, sealed)).toBeUndefined();
    const later = await vault.seal(STREAM, borrower);
    expect(await vault.open(STREAM, sealed)).toBeUndefined();
    expect(await vault.open(STREAM, later)).toEqual(borrower);
  });

  test('processes that seal for one new operation at once use one key', async () => {
    const store = new InMemoryKeyStore();
    const vaults = Array.from({ length: 8 }, () => setUp(store).vault);
    const sealed = await Promise.all(vaults.map((vault) => vault.seal(STREAM, borrower)));
    for (const text of sealed) expect(await setUp(store).vault.open(STREAM, text)).toEqual(borrower);
    expect(store.keys.size).toBe(1);
  });

  test('one process asks the store once for the key of an operation', async () => {
    const { store, vault } = setUp();
    const sealed = await Promise.all(Array.from({ length: 8 }, () => vault.seal(STREAM, borrower)));
    await Promise.all(sealed.map((text) => vault.open(STREAM, text)));
    expect(store.calls).toMatchObject({ putIfAbsent: 1, get: 0 });
  });

  test('the digest is HMAC-SHA256 with its own key', () => {
    const expected = createHmac('sha256', digestKey).update('canonical ção').digest('hex');
    expect(setUp().vault.digest('canonical ção')).toBe(expected);
  });
});
