import { describe, expect, test } from '@jest/globals';
import type { KeyStore, WrappedTexts } from '../../../application/coordination/key-store.ts';
import { RotationRefusedError } from '../../../application/maintenance/master-key-rotation.ts';
import { DATA_KEYS, WrappedKeys, dataKey } from '../../../infrastructure/security/wrapped-keys.ts';
import { rotateKeys, rotatedKeys } from '../../../infrastructure/security/master-key-rotation.ts';
import { MasterKeys, WrongMasterKeyError } from '../../../infrastructure/security/master-keys.ts';
import { OperationKeys } from '../../../infrastructure/security/operation-keys.ts';
import { openText, sealText } from '../../../infrastructure/security/aes-gcm.ts';
import { InMemoryKeyStore, masterKeyOf } from '../../support/in-memory-key-store.ts';

const [OLD, NEW, OTHER] = [masterKeyOf(1), masterKeyOf(2), masterKeyOf(3)];
const NEW_WITH_OLD = { current: NEW, previous: OLD };

/** One process of the service, or one command, with the master keys that it was given. */
const processOf = async (store: KeyStore, ring: { current: typeof OLD; previous?: typeof OLD }) => {
  const masterKeys = await MasterKeys.open(store, () => ring);
  const operationKeys = new OperationKeys(new WrappedKeys(store, masterKeys, 'operation-keys'));
  const dataKeys = new WrappedKeys(store, masterKeys, 'data-keys');
  return {
    masterKeys,
    fingerprints: await dataKey(dataKeys, DATA_KEYS.fingerprints),
    keyOf: async (stream: string) => (await operationKeys.key(stream)).id,
    findKey: async (stream: string) => (await operationKeys.find(stream))?.id,
    forget: (stream: string) => operationKeys.forget(stream),
  };
};

/** Secrets of webhooks, as another table keeps them. */
const secretsIn = (texts: WrappedTexts) => ({
  texts,
  purposeOf: () => 'webhook-secrets' as const,
  contextOf: (name: string) => `webhook-secret:${name}`,
});

const rotate = async (store: KeyStore, secrets = new InMemoryKeyStore(), ring = NEW_WITH_OLD) => {
  const masterKeys = await MasterKeys.open(store, () => ring);
  return rotateKeys(store, masterKeys, [rotatedKeys(store), secretsIn(secrets)]);
};

/** A store as versions before key ids filled it. */
const oldStore = async (): Promise<InMemoryKeyStore> => {
  const store = new InMemoryKeyStore();
  const put = (purpose: string, name: string, text: string) =>
    store.putIfAbsent(name, sealText(OLD.derive(purpose), text, name));
  await put('master-key:check', 'master-key:check', 'opened');
  await put('operation-keys', 'operation:loan-a.1', Buffer.alloc(32, 9).toString('base64url'));
  return store;
};

const CHECKED = 60;

describe('the master key of a store', () => {
  test('is refused when it is another one, and accepted as the previous one', async () => {
    const store = new InMemoryKeyStore();
    await processOf(store, { current: OLD });
    await expect(processOf(store, { current: NEW })).rejects.toThrow(WrongMasterKeyError);
    await expect(processOf(store, { current: NEW, previous: OTHER })).rejects.toThrow(WrongMasterKeyError);
    expect((await processOf(store, NEW_WITH_OLD)).masterKeys.activeId).toBe(OLD.id);
  });

  test('of a store from before key ids still opens it, and its fingerprints stay those that were derived from it', async () => {
    const store = await oldStore();
    const { fingerprints, findKey, masterKeys } = await processOf(store, { current: OLD });
    expect(fingerprints).toEqual(OLD.derive('fingerprints'));
    expect(await findKey('loan-a.1')).toMatch(/^[0-9a-f]{16}$/);
    expect(masterKeys.activeId).toBe(OLD.id);
    await expect(processOf(store, { current: NEW })).rejects.toThrow(WrongMasterKeyError);
  });

  test('of a store from before key ids wraps as it did then, so that processes of then read it, until the first rotation', async () => {
    const store = await oldStore();
    const check = store.keys.get('master-key:check')!.wrapped;
    const { keyOf } = await processOf(store, { current: OLD });
    await keyOf('loan-a.2');
    const wrapped = store.keys.get('operation:loan-a.2')!.wrapped;
    expect(openText(OLD.derive('operation-keys'), wrapped, 'operation:loan-a.2')).toHaveLength(43);
    expect(store.keys.get('master-key:check')!.wrapped).toBe(check);
  });

  test('of a store without a check, but with keys, is taken for an old one as well', async () => {
    const store = await oldStore();
    store.keys.delete('master-key:check');
    expect((await processOf(store, NEW_WITH_OLD)).fingerprints).toEqual(OLD.derive('fingerprints'));
  });

  test('says nothing about fingerprints in a new store', async () => {
    const { fingerprints } = await processOf(new InMemoryKeyStore(), { current: OLD });
    expect(fingerprints).not.toEqual(OLD.derive('fingerprints'));
  });
});

describe('rotating the master key', () => {
  test('wraps everything anew, so that the new key alone is enough and the old one is good for nothing', async () => {
    const store = await oldStore();
    const secrets = new InMemoryKeyStore();
    await secrets.putIfAbsent('w1', sealText(OLD.derive('webhook-secrets'), 'whsec', 'webhook-secret:w1'));
    const before = await processOf(store, { current: OLD });
    const ids = [await before.keyOf('loan-a.1'), await before.keyOf('loan-a.2')];

    expect(await rotate(store, secrets)).toEqual({ from: OLD.id, to: NEW.id, rewrapped: 4, already: 0 });
    const after = await processOf(store, { current: NEW });
    expect([await after.findKey('loan-a.1'), await after.findKey('loan-a.2')]).toEqual(ids);
    expect(after.fingerprints).toEqual(before.fingerprints);
    const sealed = secrets.keys.get('w1')!.wrapped;
    expect(after.masterKeys.unwrap('webhook-secrets', sealed, 'webhook-secret:w1')).toBe('whsec');
    await expect(processOf(store, { current: OLD })).rejects.toThrow(WrongMasterKeyError);
    const texts = [...store.keys].map(([name, { wrapped }]) => [name, wrapped]).concat([['w1', sealed]]);
    for (const [name, wrapped] of texts)
      expect([name, wrapped]).toEqual([name, expect.stringContaining(NEW.id)]);
  });

  test('a process that has both keys goes on during it, and what it makes is wrapped with the new one from then on', async () => {
    const store = await oldStore();
    const running = await processOf(store, NEW_WITH_OLD);
    const ids = [await running.keyOf('loan-a.1')];
    const making = Array.from({ length: 20 }, (_, i) => running.keyOf(`loan-b.${i}`));
    await rotate(store);
    ids.push(...(await Promise.all(making)), await running.keyOf('loan-a.2'));
    const after = await processOf(store, { current: NEW });
    const streams = ['loan-a.1', ...making.map((_, i) => `loan-b.${i}`), 'loan-a.2'];
    expect(await Promise.all(streams.map((stream) => after.findKey(stream)))).toEqual(ids);
  });

  test('a process that has only the old key can make nothing any more', async () => {
    const store = new InMemoryKeyStore();
    const running = await processOf(store, { current: OLD });
    await rotate(store);
    await expect(running.keyOf('loan-a.1')).rejects.toThrow(WrongMasterKeyError);
    expect(store.keys.has('operation:loan-a.1')).toBe(false);
  });

  test('a key that is forgotten meanwhile stays forgotten', async () => {
    const store = await oldStore();
    const running = await processOf(store, NEW_WITH_OLD);
    const streams = Array.from({ length: 30 }, (_, i) => `loan-a.${i}`);
    for (const stream of streams) await running.keyOf(stream);
    await Promise.all([rotate(store), ...streams.map((stream) => running.forget(stream))]);
    const after = await processOf(store, { current: NEW });
    for (const stream of streams) expect(await after.findKey(stream)).toBeUndefined();
  });

  test('cut off after any of its steps, it is finished by the next run, and until then both keys are asked for', async () => {
    let interrupted = 0;
    for (let steps = 0; ; steps += 1) {
      const store = await oldStore();
      const before = await processOf(store, { current: OLD });
      const ids = [await before.keyOf('loan-a.1'), await before.keyOf('loan-a.2')];
      const completed = await rotate(diesAfter(store, steps)).then(
        () => true,
        () => false,
      );
      if (completed) break;
      interrupted += 1;
      const both = await processOf(store, NEW_WITH_OLD);
      expect([await both.findKey('loan-a.1'), await both.findKey('loan-a.2')]).toEqual(ids);
      expect(both.fingerprints).toEqual(before.fingerprints);
      if (store.keys.has('master-key:rotation'))
        for (const ring of [{ current: OLD }, { current: NEW }])
          await expect(processOf(store, ring)).rejects.toThrow(WrongMasterKeyError);
      await rotate(store);
      const after = await processOf(store, { current: NEW });
      expect([await after.findKey('loan-a.1'), await after.findKey('loan-a.2')]).toEqual(ids);
      expect(after.fingerprints).toEqual(before.fingerprints);
      if (steps > CHECKED) throw new Error('it does not come to an end');
    }
    expect(interrupted).toBeGreaterThan(5);
  });

  test('two runs at once do it together', async () => {
    const store = await oldStore();
    const running = await processOf(store, NEW_WITH_OLD);
    for (let i = 0; i < 40; i++) await running.keyOf(`loan-a.${i}`);
    const results = await Promise.all([rotate(store), rotate(store)]);
    expect(results.reduce((sum, { rewrapped }) => sum + rewrapped, 0)).toBe(41);
    const after = await processOf(store, { current: NEW });
    expect(await after.findKey('loan-a.7')).toBe(await running.findKey('loan-a.7'));
  });

  test('is refused without both keys, and while one between other keys is unfinished', async () => {
    const store = new InMemoryKeyStore();
    await processOf(store, { current: OLD });
    const alone = { current: OLD } as typeof NEW_WITH_OLD;
    await expect(rotate(store, undefined, alone)).rejects.toThrow(RotationRefusedError);
    await expect(rotate(diesAfter(store, 1))).rejects.toThrow('killed');
    const others = { current: OTHER, previous: OLD };
    await expect(rotate(store, undefined, others)).rejects.toThrow(/not finished/);
  });
});

/** The store as a command sees it that is killed after so many writes. */
const diesAfter = (store: InMemoryKeyStore, writes: number): KeyStore => {
  let left = writes;
  const write =
    <Args extends readonly unknown[], Answer>(work: (...args: Args) => Promise<Answer>) =>
    async (...args: Args): Promise<Answer> => {
      if (left === 0) throw new Error('killed');
      left -= 1;
      return work(...args);
    };
  return {
    get: (name) => store.get(name),
    list: (prefix) => store.list(prefix),
    // Small pages, so that there is much to be cut off between.
    page: (after) => store.page(after, 1),
    delete: write((name: string) => store.delete(name)),
    turn: write((change) => store.turn(change)),
    rewrap: write((changes) => store.rewrap(changes)),
    putIfAbsent: write((name: string, wrapped: string) => store.putIfAbsent(name, wrapped)),
    putIfAbsentWhile: write((condition, name: string, wrapped: string) =>
      store.putIfAbsentWhile(condition, name, wrapped),
    ),
  };
};
