import { InspectorAwayError, OverShareError } from '../../application/ports/busy-error.ts';
import type { Inspection, ReceivedFile } from '../../application/ports/document-store.ts';
import { PdfProcess } from './pdf-process.ts';
import type { PdfLimits, PdfVerdict } from './pdf-process.ts';

/** Jobs that wait, by owner. Owners take turns, one job each, however many jobs an owner has queued. */
class FairQueue<Job> {
  /** In the order of their turns. */
  readonly #waiting = new Map<string, Job[]>();

  push(owner: string, job: Job): void {
    const jobs = this.#waiting.get(owner);
    if (jobs) jobs.push(job);
    else this.#waiting.set(owner, [job]);
  }

  /** Takes the first job of the first owner who may have one taken now, and puts that owner behind all others. */
  take(may: (owner: string) => boolean): Job | undefined {
    for (const [owner, jobs] of this.#waiting) {
      if (!may(owner)) continue;
      const job = jobs.shift();
      this.#waiting.delete(owner);
      if (jobs.length > 0) this.#waiting.set(owner, jobs);
      return job;
    }
    return undefined;
  }

  /** False when it waits no more. */
  remove(owner: string, job: Job): boolean {
    const jobs = this.#waiting.get(owner) ?? [];
    const at = jobs.indexOf(job);
    if (at < 0) return false;
    jobs.splice(at, 1);
    if (jobs.length === 0) this.#waiting.delete(owner);
    return true;
  }

  waitingOf(owner: string): number {
    return this.#waiting.get(owner)?.length ?? 0;
  }
}

/** Too costly files after which an application must wait; one is forgotten in each period. */
const MOST = 5;
const FORGIVEN_EVERY_MS = 60_000;

interface Record {
  readonly files: number;
  readonly at: number;
}

/** Counts the files of each application that were too costly to read lately. */
export class CostlyFiles {
  readonly #records = new Map<string, Record>();
  /** Milliseconds of a clock that never goes back. */
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  note(applicationId: string): void {
    this.#records.set(applicationId, { files: this.count(applicationId) + 1, at: this.#now() });
  }

  /** Files not forgotten yet; fractions included. */
  count(applicationId: string): number {
    const record = this.#records.get(applicationId);
    if (record === undefined) return 0;
    const files = record.files - (this.#now() - record.at) / FORGIVEN_EVERY_MS;
    if (files > 0) return files;
    this.#records.delete(applicationId);
    return 0;
  }

  /** Seconds until the next file of the application is checked; 0 when it need not wait. */
  secondsToWait(applicationId: string): number {
    const over = this.count(applicationId) - (MOST - 1);
    return over > 0 ? Math.ceil((over * FORGIVEN_EVERY_MS) / 1000) : 0;
  }
}

/** An honest file of 10 MiB takes 0.2 s of processor time; about 80 of the megabytes are the process's own. */
const LIMITS: PdfLimits = {
  milliseconds: 2_000,
  megabytes: 384,
  patienceMs: 20_000,
  processes: 2,
  waiting: 100,
  waitingMs: 10_000,
};

type Caller = Omit<Inspection, 'strict'>;

interface Job extends Caller {
  readonly file: ReceivedFile;
  /** Settles the promise of the caller; of no effect once the caller has gone. */
  readonly resolve: (verdict: PdfVerdict) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Parses files as PDF in a few processes of their own, started on first need. A process serves many files; one that uses too much
 * time or memory is killed together with its file, and a new one takes its place. Applications take turns, and no application
 * can keep every process busy.
 */
export class PdfChecker {
  readonly #limits: PdfLimits;
  readonly #costly: CostlyFiles;
  readonly #queue = new FairQueue<Job>();
  readonly #idle: PdfProcess[] = [];
  readonly #busy = new Set<PdfProcess>();
  /** Owners of the files being checked, once for each. */
  readonly #running: string[] = [];
  readonly #onAway: (error: InspectorAwayError) => void;
  #closed = false;

  /** @param onAway told of each file that could not be checked, because no process for it started */
  constructor(
    limits: Partial<PdfLimits> = {},
    costly = new CostlyFiles(),
    onAway: (error: InspectorAwayError) => void = () => undefined,
  ) {
    this.#limits = { ...LIMITS, ...limits };
    this.#costly = costly;
    this.#onAway = onAway;
  }

  /**
   * @throws OverShareError the application has too many files waiting, or sent too many costly ones @throws the signal's reason
   * @throws InspectorAwayError no process for it started
   */
  async check(file: ReceivedFile, { applicationId, signal }: Caller): Promise<PdfVerdict> {
    signal?.throwIfAborted();
    this.#requirePatience(applicationId);
    if (this.#queue.waitingOf(applicationId) >= this.#limits.waiting) throw tooManyWait();
    const { promise, resolve, reject } = Promise.withResolvers<PdfVerdict>();
    const job: Job = { file, applicationId, signal, resolve, reject };
    this.#queue.push(applicationId, job);
    const leave = (): void => {
      this.#queue.remove(applicationId, job);
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', leave);
    const timer = setTimeout(() => this.#giveUp(job), this.#limits.waitingMs);
    this.#next();
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', leave);
    }
  }

  /** Ends the processes. To be called when no check is under way any more. */
  close(): void {
    this.#closed = true;
    for (const parser of [...this.#idle.splice(0), ...this.#busy]) parser.kill();
  }

  #requirePatience(applicationId: string): void {
    const seconds = this.#costly.secondsToWait(applicationId);
    if (seconds > 0) throw new OverShareError('too many files that take long to read', seconds);
  }

  /** Has no effect on a file that is being checked already. */
  #giveUp(job: Job): void {
    if (this.#queue.remove(job.applicationId, job)) job.reject(tooManyWait());
  }

  #next(): void {
    if (this.#running.length >= this.#limits.processes) return;
    const job =
      this.#queue.take((owner) => !this.#isCostly(owner) && this.#mayRun(owner)) ?? this.#takeCostly();
    if (job === undefined) return;
    this.#running.push(job.applicationId);
    void this.#verdictOn(job)
      .then(job.resolve, (error: unknown) => {
        if (error instanceof InspectorAwayError) this.#onAway(error);
        job.reject(error);
      })
      .finally(() => {
        this.#running.splice(this.#running.indexOf(job.applicationId), 1);
        this.#next();
      });
    this.#next();
  }

  /** Applications whose files were too costly lately share the processes that one application may have, and come after all others. */
  #takeCostly(): Job | undefined {
    const running = this.#running.filter((owner) => this.#isCostly(owner)).length;
    return running < this.#share ? this.#queue.take((owner) => this.#mayRun(owner)) : undefined;
  }

  #isCostly(owner: string): boolean {
    return this.#costly.count(owner) > 0;
  }

  #mayRun(owner: string): boolean {
    return this.#running.filter((other) => other === owner).length < this.#share;
  }

  get #share(): number {
    return Math.max(1, this.#limits.processes - 1);
  }

  async #verdictOn(job: Job): Promise<PdfVerdict> {
    // Files of the same application may have proven costly while this one waited.
    this.#requirePatience(job.applicationId);
    const parser = this.#takeIdle();
    const wasFresh = parser.fresh;
    let verdict = await this.#ask(parser, job);
    // Memory that earlier files left in the process must not count against this one.
    if (verdict === 'too_large' && !wasFresh) verdict = await this.#ask(this.#takeIdle(), job);
    if (verdict === 'given_up') return 'too_costly';
    if (verdict !== 'too_large' && verdict !== 'too_costly') return verdict;
    this.#costly.note(job.applicationId);
    return 'too_costly';
  }

  async #ask(parser: PdfProcess, { file, signal }: Job) {
    this.#busy.add(parser);
    try {
      return await parser.check(file, signal);
    } finally {
      this.#busy.delete(parser);
      // A new one starts at once, so that the next file need not wait for it.
      if (!this.#closed && parser.alive) this.#idle.push(parser);
      else if (!this.#closed) this.#startAhead();
    }
  }

  #takeIdle(): PdfProcess {
    // All are started together: the second application that comes finds its process ready.
    while (this.#idle.length + this.#busy.size < this.#limits.processes && this.#startAhead());
    for (let parser = this.#idle.pop(); parser; parser = this.#idle.pop()) if (parser.alive) return parser;
    return this.#newProcess();
  }

  /** False where there is no room for one now: the file that needs it finds that out. */
  #startAhead(): boolean {
    try {
      this.#idle.push(this.#newProcess());
      return true;
    } catch (error) {
      if (error instanceof InspectorAwayError) return false;
      throw error;
    }
  }

  #newProcess(): PdfProcess {
    return new PdfProcess(this.#limits);
  }
}

const tooManyWait = (): OverShareError => new OverShareError('too many files wait to be checked', 5);
