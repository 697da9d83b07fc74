/**
 * What an audit writes down of so many streams, each with a key that an event used up and its claim: in a process that is killed when it
 * has noted half of them, and in one that goes on. Told are memory, time, the size of the file, and how long pairing takes at the end.
 * `node tests/bench/audit-notes-bench.ts [streams]`
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { SqliteAuditNotes } from '../../infrastructure/sqlite/audit-notes.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const BETWEEN_SAVES = 2_000;
const MISSING_ONE_IN = 100_000;
const wanted = Number(process.argv[2] ?? 1_000_000);
/** Only in the process that notes. */
const file = process.argv[3];

/** Of 16 bytes, in no order, as digests are. */
const digest = (n: number, kind: number): Buffer => {
  const bytes = Buffer.alloc(16);
  bytes.writeUInt32BE(Math.imul(n + 1, 2_654_435_761) >>> 0);
  bytes.writeUInt32BE(n, 4);
  bytes[15] = kind;
  return bytes;
};

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`;
const used = (): string =>
  `peak ${megabytes(process.resourceUsage().maxRSS * 1024)}, ${(process.cpuUsage().user / 1e6).toFixed(1)} s of processor time`;

const note = (notes: SqliteAuditNotes, n: number): void => {
  const stream = `loan-app-1.OP-${String(n).padStart(9, '0')}`;
  notes.noteStream(stream, { inLog: 2, read: 2, hash: 'a'.repeat(64), payments: 1, inFeed: 1 });
  notes.noteUsed(stream, [{ key: digest(n, 1), place: digest(n, 2) }]);
  const place = n % MISSING_ONE_IN === 0 ? digest(n, 3) : digest(n, 2);
  notes.noteClaims([{ key: digest(n, 1), place }]);
};

const write = (path: string): void => {
  const opening = performance.now();
  const notes = new SqliteAuditNotes(path);
  const from = Number(notes.saved() ?? 0);
  console.log(`opened in ${Math.round(performance.now() - opening)} ms at stream ${from}`);
  for (let n = from; n < wanted; n++) {
    note(notes, n);
    if ((n + 1) % BETWEEN_SAVES === 0) notes.save(String(n + 1));
    if ((n + 1) % (wanted / 10) === 0) console.log(`noted ${n + 1}: ${used()}`);
  }
  const pairing = performance.now();
  const unpaired = [...notes.unpaired()].length;
  console.log(
    `${unpaired} unpaired, found in ${((performance.now() - pairing) / 1000).toFixed(1)} s: ${used()}`,
  );
  notes.close();
};

const inProcess = async (path: string, onLine: (line: string, kill: () => void) => void): Promise<void> => {
  const args = [
    '--disable-warning=ExperimentalWarning',
    fileURLToPath(import.meta.url),
    String(wanted),
    path,
  ];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  createInterface({ input: child.stdout }).on('line', (line) => onLine(line, () => child.kill('SIGKILL')));
  await once(child, 'close');
};

if (file !== undefined) write(file);
else {
  const directory = temporaryDirectory();
  const path = join(directory, 'notes.db');
  await inProcess(path, (line, kill) => {
    console.log(line);
    if (line.startsWith(`noted ${wanted / 2}:`)) kill();
  });
  console.log('killed');
  await inProcess(path, (line) => console.log(line));
  console.log(`file of ${megabytes(statSync(path).size)}`);
}
