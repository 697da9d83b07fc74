import { beforeEach, describe, expect, test } from '@jest/globals';
import { hkdfSync } from 'node:crypto';
import { link, readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { inspect } from 'node:util';
import { join } from 'node:path';
import {
  MasterKey,
  dropPreviousKey,
  keyringFromFiles,
  masterKeyFromFile,
  renewKeyFile,
} from '../../../infrastructure/security/master-key.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const BASE64 = Buffer.alloc(32, 1).toString('base64');
const unused = async (): Promise<boolean> => false;
const parsed = (text: string): MasterKey => {
  const key = MasterKey.parse(text);
  if (key === undefined) throw new Error('not a key');
  return key;
};

describe('master key', () => {
  test('gives each purpose a sub-key of its own, as HKDF-SHA256 says', () => {
    const key = parsed(BASE64);
    const expected = hkdfSync('sha256', Buffer.alloc(32, 1), '', 'receivables-fund-service/a', 32);
    expect(key.derive('a')).toEqual(Buffer.from(expected));
    expect(key.derive('b')).not.toEqual(key.derive('a'));
  });

  test.each([
    ['31 bytes', Buffer.alloc(31).toString('base64')],
    ['33 bytes', Buffer.alloc(33).toString('base64')],
    ['no padding', BASE64.slice(0, -1)],
    ['hexadecimal', Buffer.alloc(32).toString('hex')],
    ['other characters', '!'.repeat(43) + '='],
  ])('%s are not a master key', (_, text) => {
    expect(MasterKey.parse(text)).toBeUndefined();
  });

  test('does not show itself when it is printed or serialised', () => {
    const key = parsed(BASE64);
    const shown = inspect(key, { showHidden: true, depth: 9 }) + JSON.stringify({ key });
    expect(shown).not.toContain(BASE64);
    expect(shown).not.toMatch(/01 01 01|\[ 1, 1/);
  });
});

describe('master key file', () => {
  let directory: string;
  beforeEach(() => void (directory = temporaryDirectory()));

  test('is made on first need, readable by its owner only, and used from then on', async () => {
    const dataDir = join(directory, 'new', 'data');
    const first = await masterKeyFromFile(dataDir, unused);
    const again = await masterKeyFromFile(dataDir, unused);
    expect(again.derive('x')).toEqual(first.derive('x'));
    expect((await stat(join(dataDir, 'master.key'))).mode & 0o777).toBe(0o600);
    expect(MasterKey.parse((await readFile(join(dataDir, 'master.key'), 'utf8')).trim())).toBeDefined();
  });

  test('processes that start at once end with the same key and leave no drafts', async () => {
    const keys = await Promise.all(Array.from({ length: 20 }, () => masterKeyFromFile(directory, unused)));
    expect(new Set(keys.map((key) => key.derive('x').toString('hex'))).size).toBe(1);
    expect(await readdir(directory)).toEqual(['master.key']);
  });

  test('a file that holds no key stops the start instead of being replaced', async () => {
    const path = join(directory, 'master.key');
    await writeFile(path, 'broken');
    await expect(masterKeyFromFile(directory, unused)).rejects.toThrow(`${path} does not hold a master key`);
    expect(await readFile(path, 'utf8')).toBe('broken');
  });

  test('gives way to a new key, with the old one beside it until that is dropped', async () => {
    const old = await masterKeyFromFile(directory, unused);
    await renewKeyFile(directory);
    const { current, previous } = keyringFromFiles(directory);
    expect(previous?.id).toBe(old.id);
    expect(current.id).not.toBe(old.id);
    await renewKeyFile(directory);
    expect(keyringFromFiles(directory).current.id).toBe(current.id);
    await dropPreviousKey(directory);
    expect(keyringFromFiles(directory)).toMatchObject({ current, previous: undefined });
    expect(await readdir(directory)).toEqual(['master.key']);
  });

  test('a renewal that was cut off after its first step is finished by the next', async () => {
    const old = await masterKeyFromFile(directory, unused);
    await link(join(directory, 'master.key'), join(directory, 'master.key.previous'));
    await renewKeyFile(directory);
    const { current, previous } = keyringFromFiles(directory);
    expect([previous?.id, current.id === old.id]).toEqual([old.id, false]);
  });
});
