import { anchorLines, readAnchor } from './anchor.ts';
import type { AnchorSigner } from './anchor.ts';
import type { Difference, DifferenceKind } from './difference.ts';
import type { VerifyRequest, VerifySummary } from './verify-log.ts';
import type { AuditNotes } from './audit-notes.ts';

interface Parts {
  expectedEvents(): Promise<number>;
  verify(request: VerifyRequest): AsyncGenerator<Difference, VerifySummary>;
  readonly openNotes: () => AuditNotes;
  readonly signer: AnchorSigner;
  now(): string;
}

export interface VerificationRun {
  readonly begunAt: string;
  readonly fundId: string | undefined;
  readonly anchorOf: string | undefined;
  readonly expected: number;
  readonly events: number;
  readonly differences: readonly Difference[];
  readonly counts: ReadonlyMap<DifferenceKind, number>;
  readonly state: 'running' | 'done' | 'cancelled' | 'failed';
  readonly endedAt: string | undefined;
  readonly summary: VerifySummary | undefined;
  readonly reason: string | undefined;
}

/** Further ones are counted only; the command line prints all of them. */
export const MOST_SHOWN = 1_000;

type Changing = { -readonly [Name in keyof VerificationRun]: VerificationRun[Name] } & {
  differences: Difference[];
  counts: Map<DifferenceKind, number>;
};

/** Verifies the log while pages come and go: one at a time, because it reads everything there is. */
export class Verification {
  readonly #parts: Parts;
  #run: Changing | undefined;
  #notes: AuditNotes | undefined;
  #stop = new AbortController();
  #ended: Promise<void> = Promise.resolve();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  get run(): VerificationRun | undefined {
    return this.#run;
  }

  get progress(): string {
    const { begunAt = '', events = 0, state = '', differences = [] } = this.#run ?? {};
    return `${begunAt} ${events} ${differences.length} ${state}`;
  }

  /** False, and nothing is begun, while one is under way. @throws DomainError `validation_error` for a foreign anchor */
  async start(fundId: string | undefined, anchor: Buffer | undefined): Promise<boolean> {
    if (this.#run?.state === 'running') return false;
    const { signer } = this.#parts;
    const notes = this.#parts.openNotes();
    this.#stop = new AbortController();
    const run: Changing = {
      ...{ begunAt: this.#parts.now(), fundId, anchorOf: undefined, expected: 0, events: 0, differences: [] },
      ...{ counts: new Map(), state: 'running', endedAt: undefined, summary: undefined, reason: undefined },
    };
    const before = this.#run;
    this.#run = run;
    try {
      const earlier = anchor && (await readAnchor(linesOf(anchor), signer, (head) => notes.noteHead(head)));
      run.anchorOf = earlier?.takenAt;
      run.expected = await this.#parts.expectedEvents();
      const request = { notes, ...(fundId !== undefined && { fundId }), ...(earlier && { anchor: earlier }) };
      // What was verified before can be asked for until here.
      this.#notes?.close();
      this.#notes = notes;
      this.#ended = this.#follow(run, request);
      return true;
    } catch (error) {
      notes.close();
      this.#run = before;
      throw error;
    }
  }

  async #follow(run: Changing, request: VerifyRequest): Promise<void> {
    const { signal } = this.#stop;
    const progress = (events: number): void => void (run.events += events);
    try {
      const differences = this.#parts.verify({ ...request, progress, signal });
      for (;;) {
        const next = await differences.next();
        if (next.done) {
          run.summary = next.value;
          break;
        }
        const { kind } = next.value;
        run.counts.set(kind, (run.counts.get(kind) ?? 0) + 1);
        if (run.differences.length < MOST_SHOWN) run.differences.push(next.value);
      }
      run.state = 'done';
    } catch (error) {
      run.state = signal.aborted ? 'cancelled' : 'failed';
      if (!signal.aborted) run.reason = error instanceof Error ? error.message : String(error);
    }
    run.endedAt = this.#parts.now();
  }

  cancel(): void {
    this.#stop.abort();
  }

  /** Lines of a signed anchor of what was verified; undefined unless it came to its end without a difference. */
  anchor(): AsyncGenerator<string> | undefined {
    const { summary, begunAt } = this.#run ?? {};
    if (summary?.differences !== 0 || begunAt === undefined) return undefined;
    return anchorLines({ takenAt: begunAt, seal: summary.seal, heads: summary.heads() }, this.#parts.signer);
  }

  /** What is under way comes to its end before the stores are closed. */
  async close(): Promise<void> {
    this.cancel();
    await this.#ended;
    this.#notes?.close();
    this.#notes = undefined;
  }
}

async function* linesOf(bytes: Buffer): AsyncGenerator<string> {
  yield* bytes
    .toString('utf8')
    .replace(/\r?\n$/, '')
    .split(/\r?\n/);
}
