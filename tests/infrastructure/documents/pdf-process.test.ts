import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { InspectorAwayError } from '../../../application/ports/busy-error.ts';
import { problemOf } from '../../../infrastructure/http/errors/http-problem.ts';
import { PdfProcess, parserArguments, useOf } from '../../../infrastructure/documents/pdf-process.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { content } from './support/contents.ts';
import { onePage } from './support/sample-pdfs.ts';

const run = promisify(execFile);
const LIMITS = {
  milliseconds: 5_000,
  megabytes: 300,
  patienceMs: 20_000,
  processes: 1,
  waiting: 1,
  waitingMs: 1_000,
};
const EXPLOITED = fileURLToPath(new URL('./support/exploited-parser.ts', import.meta.url));

const directory = temporaryDirectory();

describe('a file that has taken over the parser', () => {
  const deedsWith = async (nodeArguments: readonly string[]): Promise<readonly string[]> => {
    const secret = join(directory, 'secret');
    await writeFile(secret, 'the contract of somebody else');
    const { stdout } = await run(process.execPath, [...nodeArguments, secret]);
    return JSON.parse(stdout) as string[];
  };

  test('can read no file, write none, and start nothing', async () => {
    expect(await deedsWith(parserArguments(EXPLOITED, 200))).toEqual([]);
  });

  test('could do all of that without the parser’s rights', async () => {
    expect(await deedsWith(['--disable-warning=ExperimentalWarning', EXPLOITED])).toEqual([
      'read another file',
      'read the environment of the service',
      'read its own environment',
      'list a directory',
      'write a file',
      'start a process',
      'start a thread',
      'run a text as code',
    ]);
  });
});

test('a content that comes in pieces, one after the other, is one file', async () => {
  const parser = new PdfProcess(LIMITS);
  try {
    const bytes = onePage(`\n%${'x'.repeat(200_000)}`);
    for (const size of [1_000, 70_000, bytes.length]) {
      expect(await parser.check(content(bytes, size), undefined)).toBe('readable');
    }
    expect(parser.alive).toBe(true);
  } finally {
    parser.kill();
  }
});

test('a content that cannot be read to its end fails as such, and costs its process', async () => {
  const parser = new PdfProcess(LIMITS);
  const broken = {
    ...content('x'.repeat(1_000)),
    read: async function* (): AsyncGenerator<Uint8Array> {
      throw new Error('the upload is gone');
    },
  };
  await expect(parser.check(broken, undefined)).rejects.toThrow('the upload is gone');
  expect(parser.alive).toBe(false);
});

test('what a process uses is told while it lives', () => {
  const use = useOf(process.pid)!;
  const before = process.cpuUsage();
  expect(use.milliseconds).toBeGreaterThan(0);
  expect(Math.abs(use.milliseconds - (before.user + before.system) / 1000)).toBeLessThan(500);
  expect(use.megabytes).toBeGreaterThan(20);
  expect(useOf(2 ** 30)).toBeUndefined();
});

test('a process that does not start is a service that cannot answer now, whatever the file is', async () => {
  // It ends at once.
  const parser = new PdfProcess(LIMITS, 'no-such-program');
  const failure = await parser.check(content(onePage()), undefined).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(InspectorAwayError);
  const problem = problemOf(failure)!;
  expect([problem.status, problem.headers]).toEqual([503, ['Retry-After', '10']]);
  expect(problem.body('r')).toMatchObject({ error_code: 'service_unavailable', retryable: true });
  expect(problem.message).toContain('send the same request again');
});

test('a process that a busy machine lets start slowly is waited for, and one that only sleeps is not', async () => {
  const startedBy = async (patienceMs: number, beginning: string): Promise<unknown> => {
    const program = join(temporaryDirectory(), 'slow.mjs');
    await writeFile(
      program,
      `${beginning}; process.stdin.on('data', () => console.log('readable')); console.log('ready');`,
    );
    const parser = new PdfProcess({ ...LIMITS, patienceMs }, program);
    return parser.check(content(onePage()), undefined).finally(() => parser.kill());
  };
  const sleep = (ms: number): string => `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${ms})`;
  const slowly = `for (const end = Date.now() + 3_500; Date.now() < end;) {
    for (const pause = Date.now() + 25; Date.now() < pause;);
    ${sleep(75)};
  }`;
  expect(await startedBy(2_000, slowly)).toBe('readable');
  await expect(startedBy(1_000, sleep(60_000))).rejects.toThrow(InspectorAwayError);
});
