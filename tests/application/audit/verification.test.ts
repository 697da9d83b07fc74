import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import type { Audit } from '../../../application/audit/audit.ts';
import type { StreamHead } from '../../../application/audit/audit-notes.ts';
import type { Difference } from '../../../application/audit/difference.ts';
import type { VerifySummary } from '../../../application/audit/verify-log.ts';
import { MOST_SHOWN, Verification } from '../../../application/audit/verification.ts';
import { SqliteAuditNotes } from '../../../infrastructure/sqlite/audit-notes.ts';

const difference: Difference = {
  kind: 'price',
  stream: 's',
  revision: 1,
  what: 'w',
  expected: 'e',
  found: 'f',
};
const summary = {
  events: 3,
  differences: 0,
  seal: undefined,
  heads: function* () {},
} as unknown as VerifySummary;

const verificationOf = (verify: Audit['verify']): Verification =>
  new Verification({
    verify,
    expectedEvents: () => Promise.resolve(3),
    openNotes: () => new SqliteAuditNotes(),
    signer: {
      sign: () => Promise.resolve({ publicKey: 'k', signature: 's' }),
      isGenuine: () => Promise.resolve(true),
    },
    now: () => '2026-06-20T15:00:00.000Z',
  });

const ended = async (verification: Verification): Promise<void> => {
  while (verification.run?.state === 'running') await setTimeout(1);
};

describe('a verification of the console', () => {
  test('is one at a time, and can be cancelled', async () => {
    const verification = verificationOf(async function* ({ signal }) {
      yield difference;
      signal!.throwIfAborted();
      await new Promise((_, reject) => signal!.addEventListener('abort', () => reject(new Error('aborted'))));
      return summary;
    });
    expect(await verification.start(undefined, undefined)).toBe(true);
    expect(await verification.start(undefined, undefined)).toBe(false);
    verification.cancel();
    await ended(verification);
    expect(verification.run).toMatchObject({ state: 'cancelled', reason: undefined, summary: undefined });
    expect(verification.anchor()).toBeUndefined();
    expect(await verification.start(undefined, undefined)).toBe(true);
    await verification.close();
    expect(verification.run?.state).toBe('cancelled');
  });

  test('keeps the first differences, counts all, and gives no anchor then', async () => {
    const verification = verificationOf(async function* ({ progress }) {
      for (let i = 0; i < MOST_SHOWN + 5; i += 1) yield difference;
      progress?.(3);
      return { ...summary, differences: MOST_SHOWN + 5 };
    });
    await verification.start('fund', undefined);
    await ended(verification);
    const { run } = verification;
    expect([run?.state, run?.events, run?.differences.length]).toEqual(['done', 3, MOST_SHOWN]);
    expect(run?.counts.get('price')).toBe(MOST_SHOWN + 5);
    expect(verification.anchor()).toBeUndefined();
    await verification.close();
  });

  test('says why it failed, and refuses an anchor that is none', async () => {
    const verification = verificationOf(async function* () {
      throw new Error('the store is away');
    });
    await verification.start(undefined, undefined);
    await ended(verification);
    expect(verification.run).toMatchObject({ state: 'failed', reason: 'the store is away' });
    await expect(verification.start(undefined, Buffer.from('no anchor'))).rejects.toMatchObject({
      code: 'validation_error',
    });
    await verification.close();
  });

  test('keeps what was verified, with its anchor, where the next cannot begin; it compares with that anchor', async () => {
    const verification = verificationOf(async function* ({ notes }) {
      notes.noteHead({ stream: 's', revision: 0, hash: 'h' });
      return { ...summary, heads: () => notes.heads() as Generator<StreamHead> };
    });
    await verification.start(undefined, undefined);
    await ended(verification);
    await expect(verification.start(undefined, Buffer.from('no anchor'))).rejects.toMatchObject({
      code: 'validation_error',
    });
    expect(verification.run).toMatchObject({ state: 'done', summary: { events: 3 } });
    const lines = await Array.fromAsync(verification.anchor()!);
    expect(lines[1]).toContain('"stream":"s"');
    // As the command line takes it, too, after it went through a mail.
    const posted = Buffer.from(lines.join('').replaceAll('\n', '\r\n'));
    expect(await verification.start(undefined, posted)).toBe(true);
    await verification.close();
  });
});
