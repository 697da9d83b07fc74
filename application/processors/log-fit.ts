import { StoreUnavailableError } from '../ports/event-store.ts';
import type { LogPlaces } from '../ports/event-store.ts';
import { messageOf } from '../support/failures.ts';
import type { Status } from './processor.ts';
import type { Pause } from '../support/retry.ts';

interface LogFitDependencies {
  readonly log: LogPlaces;
  readonly places: () => Promise<readonly Pick<Status, 'name' | 'position'>[]>;
  readonly pause: Pause;
}

const LOOK_EVERY_MS = 1_000;

/** Why a log cannot be followed from a place; undefined where it can. @throws StoreUnavailableError */
export const misfit = async (
  log: Pick<LogPlaces, 'ensureHas'>,
  place: Status['position'],
): Promise<string | undefined> => {
  try {
    if (place !== 'start') await log.ensureHas(place);
    return undefined;
  } catch (error) {
    if (error instanceof RangeError) return messageOf(error);
    throw error;
  }
};

/**
 * Whether the log reaches every place that something has followed it to. An older state of it that was restored alone does not: codes
 * and keys that are used in truth would be free there, so nothing may be stored until the places fit again.
 */
export class LogFit {
  readonly #deps: LogFitDependencies;
  #known: { readonly problem: string | undefined; readonly at: number } | undefined;
  #looking: Promise<void> | undefined;
  #watched = false;

  constructor(dependencies: LogFitDependencies) {
    this.#deps = dependencies;
  }

  /** @throws StoreUnavailableError it lacks what has followed it, or that is not known yet, because an engine is away */
  async ensure(): Promise<void> {
    const known = this.#known;
    const isOld = !this.#watched && known !== undefined && performance.now() - known.at > LOOK_EVERY_MS;
    if (known === undefined || isOld) await this.look();
    const problem = this.#known?.problem;
    if (problem !== undefined) throw new StoreUnavailableError(problem);
  }

  /** Why the log does not fit what follows it; undefined where it does. @throws StoreUnavailableError */
  async problem(): Promise<string | undefined> {
    await this.look();
    return this.#known?.problem;
  }

  /** Looks every second until the signal; whoever asks meanwhile is answered with what was seen last. */
  async watch(signal: AbortSignal): Promise<void> {
    this.#watched = true;
    while (!signal.aborted) {
      // An engine that is away changes nothing: what was known stays.
      await this.look().catch(() => undefined);
      await this.#deps.pause(LOOK_EVERY_MS, signal);
    }
    this.#watched = false;
  }

  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  async #look(): Promise<void> {
    const at = performance.now();
    const seen = new Set<Status['position']>(['start']);
    // Places first: they only follow the log, so what was read of them is never ahead of a log that is asked afterwards.
    for (const { name, position } of await this.#deps.places()) {
      if (seen.has(position)) continue;
      seen.add(position);
      const problem = await misfit(this.#deps.log, position);
      if (problem === undefined) continue;
      this.#known = { at, problem: `the event log is older than ${name}, which follows it: ${problem}` };
      return;
    }
    this.#known = { at, problem: undefined };
  }
}
