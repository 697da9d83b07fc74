import { BusyError } from '../../application/ports/busy-error.ts';
import { PdfProcess } from './pdf-process.ts';
import type { PdfVerdict } from './pdf-process.ts';

export interface PdfLimits {
  /** For one file, with the start of its process. */
  readonly milliseconds: number;
  /** Resident memory of a process, of which about 80 are its own. */
  readonly megabytes: number;
  /** Files checked at once. */
  readonly processes: number;
  /** Files that may wait for a process. */
  readonly waiting: number;
}

/** An honest file of 10 MiB takes 0.2 s; the rest of the time is for machines that are busy. */
const LIMITS: PdfLimits = { milliseconds: 10_000, megabytes: 384, processes: 2, waiting: 200 };

interface Job {
  readonly path: string;
  readonly resolve: (verdict: PdfVerdict) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Parses files as PDF in a few processes of their own, started on first need. A process serves many files; one that takes too
 * long or too much memory is killed with the file it was busy with, and a new one takes its place.
 */
export class PdfChecker {
  readonly #limits: PdfLimits;
  readonly #waiting: Job[] = [];
  readonly #idle: PdfProcess[] = [];
  readonly #busy = new Set<PdfProcess>();
  #running = 0;

  constructor(limits: PdfLimits = LIMITS) {
    this.#limits = limits;
  }

  /** @throws BusyError when too many files wait */
  check(path: string): Promise<PdfVerdict> {
    if (this.#waiting.length >= this.#limits.waiting) {
      return Promise.reject(new BusyError('too many files wait to be checked'));
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ path, resolve, reject });
      this.#next();
    });
  }

  /** Ends the processes. To be called when nobody waits for a verdict any more. */
  close(): void {
    for (const parser of [...this.#idle.splice(0), ...this.#busy]) parser.kill();
  }

  #next(): void {
    if (this.#running >= this.#limits.processes) return;
    const job = this.#waiting.shift();
    if (job === undefined) return;
    this.#running += 1;
    void this.#verdictOn(job.path)
      .then(job.resolve, job.reject)
      .finally(() => {
        this.#running -= 1;
        this.#next();
      });
  }

  async #verdictOn(path: string): Promise<PdfVerdict> {
    const used = this.#takeIdle();
    if (used !== undefined) {
      const verdict = await this.#ask(used, path);
      // What earlier files left in its memory must not be held against this one.
      if (verdict !== 'too_costly') return verdict;
    }
    return this.#ask(new PdfProcess(this.#limits.megabytes), path);
  }

  async #ask(parser: PdfProcess, path: string): Promise<PdfVerdict> {
    this.#busy.add(parser);
    try {
      return await parser.check(path, this.#limits.milliseconds);
    } finally {
      this.#busy.delete(parser);
      if (parser.alive) this.#idle.push(parser);
    }
  }

  #takeIdle(): PdfProcess | undefined {
    let parser = this.#idle.pop();
    while (parser !== undefined && !parser.alive) parser = this.#idle.pop();
    return parser;
  }
}
