import { readFile } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import { getDocument } from 'unpdf/pdfjs';
import type { PdfVerdict } from './pdf-process.ts';

/* Entry point of a process of its own: gets paths of files, answers verdicts. @see PdfProcess */

const verdictOn = async (path: string): Promise<PdfVerdict> => {
  const data = new Uint8Array(await readFile(path));
  const task = getDocument({ data, verbosity: 0, disableFontFace: true });
  try {
    const pdf = await task.promise;
    await pdf.getPage(1);
    return 'readable';
  } catch (error) {
    return error instanceof Error && error.name === 'PasswordException' ? 'password' : 'unreadable';
  } finally {
    await task.destroy();
  }
};

const workerData = { megabytes: Number(process.argv[2]) };
new Worker(new URL('./memory-watchdog.ts', import.meta.url), { workerData }).unref();

// Ctrl-C reaches the whole group of processes; the service first finishes what is in flight, then ends this one.
process.on('SIGINT', () => undefined).on('SIGTERM', () => undefined);
process.on('disconnect', () => process.exit());
process.on('message', (path: string) => {
  void verdictOn(path).then((verdict) => process.send?.(verdict));
});
