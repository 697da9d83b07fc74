import type { Projection } from '../../projections/engine/projection.ts';
import type { LogPosition } from '../ports/event-store.ts';
import type { ProjectionPlaces, RowDifference } from '../ports/projection-copies.ts';
import { compareCopies } from './compare-copies.ts';
import { CopyFollower } from './copy-follower.ts';
import type { CopyFollowerDependencies } from './copy-follower.ts';
import type { LogOrder } from './log-order.ts';

export interface RebuildDependencies extends Omit<CopyFollowerDependencies, 'projection' | 'onProgress'> {
  readonly order: LogOrder;
  readonly sleep: (ms: number) => Promise<void>;
}

export interface RebuildRequest {
  readonly projection: Projection;
  /** Lets the copy serve although rows differ, or although what serves has another version. */
  readonly force: boolean;
  readonly signal: AbortSignal;
  /** From 0 to 1, while the log is taken in. */
  readonly onProgress: (share: number) => void;
  readonly onDifference: (difference: RowDifference) => void | Promise<void>;
}

export interface RebuildResult {
  /** `switched`: serves now; `ready`: a service of this version takes it over when it starts; `differs`: needs a decision. */
  readonly outcome: 'switched' | 'ready' | 'differs';
  readonly resumed: boolean;
  /** Taken in by this call. */
  readonly events: number;
  readonly differences: number;
  readonly position: LogPosition | 'start';
}

/** A rebuild cannot begin, or cannot end as things are; the message says what to do. */
export class RebuildRefusedError extends Error {
  override readonly name = 'RebuildRefusedError';
}

const SWITCH_PAUSE_MS = 20;
const SWITCH_ATTEMPTS = 1_500;

/** Builds a read model a second time beside the one that serves, compares both, and lets the new one serve in one step. */
export class RebuildProjection {
  readonly #deps: RebuildDependencies;

  constructor(dependencies: RebuildDependencies) {
    this.#deps = dependencies;
  }

  /** Goes on with what an interrupted call left. @throws RebuildRefusedError @throws CopyGoneError @throws PoisonEventError */
  async execute(request: RebuildRequest): Promise<RebuildResult> {
    const { projection, force, signal } = request;
    const { copies } = this.#deps;
    const resumed = await this.#begin(projection);
    const follower = await this.#follower(request);
    await follower.catchUp(signal);
    follower.remember();
    const differences = await compareCopies({ ...this.#deps, ...request, follower });
    const { live, copy } = await copies.places(projection.name);
    const sameVersion = live === undefined || live.version === projection.version;
    const result = { resumed, differences, position: copy?.position ?? 'start' } as const;
    if (differences > 0 && sameVersion && !force)
      return { ...result, outcome: 'differs', events: follower.events };
    if (!sameVersion && !force) {
      const position = await this.#ready(projection, follower, signal);
      return { ...result, position, outcome: 'ready', events: follower.events };
    }
    const position = await this.#switchOver(projection, follower, signal);
    return { ...result, position, outcome: 'switched', events: follower.events };
  }

  /** True when there is something to go on with. */
  async #begin(projection: Projection): Promise<boolean> {
    const { name, version } = projection;
    const { live, copy } = await this.#deps.copies.places(name);
    if (live && live.version > version)
      throw new RebuildRefusedError(
        `${name} serves version ${live.version}, this program builds ${version}: use the program of the service`,
      );
    if (copy?.state === 'old')
      throw new RebuildRefusedError(
        `the copy of ${name} that served before is still kept: first \`receivables projections drop-old ${name}\``,
      );
    if (copy?.version === version) return true;
    if (!(await this.#deps.copies.begin(projection)))
      throw new RebuildRefusedError(`another process has just begun to rebuild ${name}`);
    return false;
  }

  async #follower({ projection, onProgress }: RebuildRequest): Promise<CopyFollower> {
    const { order, copies } = this.#deps;
    const { live } = await copies.places(projection.name);
    const goal = live?.position ?? 'start';
    return new CopyFollower({
      ...this.#deps,
      projection,
      onProgress: (position) => onProgress(order.share(position, goal)),
    });
  }

  async #ready(
    projection: Projection,
    follower: CopyFollower,
    signal: AbortSignal,
  ): Promise<LogPosition | 'start'> {
    for (;;) {
      await follower.catchUp(signal);
      const { copy } = await this.#deps.copies.places(projection.name);
      if (!copy || copy.position === 'start') return 'start';
      if (await this.#deps.copies.markReady(projection.name, copy.position)) return copy.position;
    }
  }

  /** A read must find what an earlier one has shown: what comes to serve is never behind what serves. */
  async #switchOver(
    projection: Projection,
    follower: CopyFollower,
    signal: AbortSignal,
  ): Promise<LogPosition | 'start'> {
    const { copies, sleep } = this.#deps;
    for (let attempt = 0; attempt < SWITCH_ATTEMPTS; attempt++) {
      await follower.catchUp(signal);
      const places = await copies.places(projection.name);
      if (this.#isAhead(places) && (await copies.switchOver(projection.name, places)))
        return places.copy?.position ?? 'start';
      await sleep(Math.random() * SWITCH_PAUSE_MS);
    }
    throw new RebuildRefusedError(
      `${projection.name} changed at every attempt to switch; the copy is kept, so the same command goes on with it`,
    );
  }

  #isAhead({ live, copy }: ProjectionPlaces): boolean {
    if (!copy || copy.position === 'start') return false;
    return this.#deps.order.compare(copy.position, live?.position ?? 'start') >= 0;
  }
}
