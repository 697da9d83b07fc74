import { afterEach, describe, expect, test } from '@jest/globals';
import { OverShareError } from '../../../application/ports/busy-error.ts';
import { CostlyFiles, PdfChecker } from '../../../infrastructure/documents/pdf-checker.ts';
import type { PdfLimits } from '../../../infrastructure/documents/pdf-process.ts';
import { content } from './support/contents.ts';
import * as pdfs from './support/sample-pdfs.ts';

const MEGABYTE = 1024 * 1024;
const MINE = { applicationId: 'mine' };
const NEIGHBOUR = { applicationId: 'neighbour' };

const good = content(pdfs.onePage());
/** Seconds of work and hundreds of megabytes; whichever limit it meets first. */
const bad = content(pdfs.objectStreamBomb(400));

let checkers: PdfChecker[] = [];
afterEach(() => {
  for (const checker of checkers) checker.close();
  checkers = [];
});
const checkerWith = (limits: Partial<PdfLimits>, costly?: CostlyFiles): PdfChecker => {
  const checker = new PdfChecker(limits, costly);
  checkers.push(checker);
  return checker;
};
/** So little processor time that even on an idle machine a costly file is stopped before it is read, and patience with a busy one. */
const SHORT = { milliseconds: 300, megabytes: 8_192, patienceMs: 60_000, waitingMs: 60_000 };

describe('a file that needs too much', () => {
  test.each<[string, () => Buffer]>([
    ['memory for buffers', () => pdfs.objectStreamBomb(1000)],
    ['memory for small objects', () => pdfs.xrefBomb(400)],
    [
      'memory for one array, faster than V8 can react',
      () => Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(10 * MEGABYTE)]),
    ],
  ])('%s is stopped, and this process stays small', async (_, bytes) => {
    const checker = checkerWith({ megabytes: 200, processes: 1, milliseconds: 20_000 });
    const file = content(bytes());
    const before = process.memoryUsage.rss();
    expect(await checker.check(file, MINE)).toBe('too_costly');
    expect(process.memoryUsage.rss() - before).toBeLessThan(100 * MEGABYTE);
  });

  test('time is stopped, and the main thread goes on meanwhile', async () => {
    const checker = checkerWith({ ...SHORT, processes: 1 });
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 5);
    const verdict = await checker.check(bad, MINE);
    clearInterval(timer);
    expect(verdict).toBe('too_costly');
    // How often depends on what else the machine does; a blocked thread would not have come to it at all.
    expect(turns).toBeGreaterThan(0);
  });

  test('costs its process, not the files that wait behind it', async () => {
    const checker = checkerWith({ ...SHORT, processes: 1 });
    const files = [good, bad, good, bad, good];
    const verdicts = await Promise.all(files.map((file) => checker.check(file, MINE)));
    expect(verdicts).toEqual(['readable', 'too_costly', 'readable', 'too_costly', 'readable']);
  });
});

test('large files in a row do not add up', async () => {
  const checker = checkerWith({ megabytes: 200, processes: 1 });
  const large = content(pdfs.onePage(`\n%${'x'.repeat(5 * MEGABYTE)}`));
  for (let index = 0; index < 15; index += 1) expect(await checker.check(large, MINE)).toBe('readable');
});

describe('an application', () => {
  test('has its file read at once while another has a queue of costly ones', async () => {
    const checker = checkerWith(SHORT);
    const costly = Array.from({ length: 2 }, () => checker.check(bad, MINE));
    let first: string | undefined;
    void costly[0]!.then(() => (first ??= 'costly'));
    const verdicts = [checker.check(good, NEIGHBOUR), checker.check(good, NEIGHBOUR)];
    void verdicts[1]!.then(() => (first ??= 'neighbour'));
    expect(await Promise.all(verdicts)).toEqual(['readable', 'readable']);
    expect(first).toBe('neighbour');
    expect(await Promise.all(costly)).toEqual(['too_costly', 'too_costly']);
  });

  test('takes turns with others where there is one process', async () => {
    const checker = checkerWith({ processes: 1 });
    const order: string[] = [];
    const check = (applicationId: string): Promise<unknown> =>
      checker.check(good, { applicationId }).then(() => order.push(applicationId));
    await Promise.all(['a', 'a', 'a', 'a', 'b', 'c', 'b'].map(check));
    expect(order).toEqual(['a', 'a', 'b', 'c', 'a', 'b', 'a']);
  });

  test('comes after all others once its files were too costly', async () => {
    const costly = new CostlyFiles();
    costly.note('mine');
    const checker = checkerWith({ processes: 1 }, costly);
    const order: string[] = [];
    const check = (applicationId: string): Promise<unknown> =>
      checker.check(good, { applicationId }).then(() => order.push(applicationId));
    await Promise.all(['a', 'mine', 'b', 'mine', 'a'].map(check));
    expect(order).toEqual(['a', 'b', 'a', 'mine', 'mine']);
  });

  test('is refused for a while after five of them, and no other is', async () => {
    let now = 0;
    const costly = new CostlyFiles(() => now);
    for (let file = 0; file < 4; file += 1) costly.note('mine');
    const checker = checkerWith(SHORT, costly);
    expect(await checker.check(bad, MINE)).toBe('too_costly');
    const refused = checker.check(good, MINE);
    await expect(refused).rejects.toMatchObject({ name: 'OverShareError', retryAfterSeconds: 60 });
    expect(await checker.check(good, NEIGHBOUR)).toBe('readable');
    now += 60_000;
    expect(await checker.check(good, MINE)).toBe('readable');
  });

  test('may have so many files waiting, and each so long; others have their own', async () => {
    const checker = checkerWith({ ...SHORT, processes: 1, waiting: 2, waitingMs: 50 });
    const verdicts = await Promise.allSettled([
      ...[bad, good, good, good].map((file) => checker.check(file, MINE)),
      checker.check(good, NEIGHBOUR),
    ]);
    const over = { status: 'rejected', reason: expect.any(OverShareError) as unknown };
    expect(verdicts).toEqual([{ status: 'fulfilled', value: 'too_costly' }, over, over, over, over]);
  });
});

describe('a client that leaves', () => {
  const gone = new Error('gone');

  test('takes its waiting file along: nobody reads it', async () => {
    const checker = checkerWith({ ...SHORT, processes: 1 });
    const leaving = new AbortController();
    const running = checker.check(bad, MINE);
    let read = 0;
    const waiting = { ...good, read: () => ((read += 1), good.read()) };
    const left = checker.check(waiting, { ...MINE, signal: leaving.signal });
    leaving.abort(gone);
    await expect(left).rejects.toBe(gone);
    await running;
    expect(await checker.check(good, MINE)).toBe('readable');
    expect(read).toBe(0);
    await expect(checker.check(good, { ...MINE, signal: leaving.signal })).rejects.toBe(gone);
  });

  test('has its costly file stopped long before its time', async () => {
    const checker = checkerWith({ milliseconds: 60_000, megabytes: 8_192, processes: 1 });
    const endless = content(pdfs.objectStreamBomb(2000));
    const leaving = new AbortController();
    const left = checker.check(endless, { ...MINE, signal: leaving.signal });
    const next = checker.check(good, MINE);
    leaving.abort(gone);
    await expect(left).rejects.toBe(gone);
    expect(await next).toBe('readable');
  });
});
