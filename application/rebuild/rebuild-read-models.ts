import type { Projection } from '../../projections/projection.ts';
import { misfit } from '../coordination/follower-places.ts';
import type { LogPosition } from '../ports/event-store.ts';
import type { Generation, Generations, Places, RowDifference } from '../ports/read-models.ts';
import { compareGenerations } from './compare-generations.ts';
import { GenerationFollower, catchUpTogether } from './generation-follower.ts';
import type { GenerationFollowerDependencies } from './generation-follower.ts';

export interface RebuildDependencies extends Pick<
  GenerationFollowerDependencies,
  'log' | 'order' | 'decode' | 'breathe'
> {
  readonly projections: readonly Projection[];
  readonly generations: Generations;
  readonly sleep: (ms: number) => Promise<void>;
}

export interface RebuildRequest {
  /** Lets the new generation serve although rows differ, or although what serves has another version. */
  readonly force: boolean;
  readonly signal: AbortSignal;
  /** From 0 to 1, while the log is taken in. */
  readonly onProgress: (share: number) => void;
  readonly onDifference: (projection: Projection, difference: RowDifference) => void | Promise<void>;
}

export interface RebuildResult {
  readonly generation: number;
  /** `switched`: serves now; `ready`: a service of this version lets it serve when it starts; `differs`: needs a decision. */
  readonly outcome: 'switched' | 'ready' | 'differs';
  readonly resumed: boolean;
  /** Taken in by this call, each read model for itself. */
  readonly events: number;
  readonly differences: number;
}

/** A rebuild cannot begin, or cannot end as things are; the message says what to do. */
export class RebuildRefusedError extends Error {
  override readonly name = 'RebuildRefusedError';
}

const SWITCH_PAUSE_MS = 20;
const SWITCH_ATTEMPTS = 1_500;

type Followers = ReadonlyMap<Projection, GenerationFollower>;

interface Building {
  readonly request: RebuildRequest;
  /** Undefined when nothing serves yet. */
  readonly live: Generation | undefined;
  /** What serves is of another log than this one: nothing in it can be compared or waited for. */
  readonly otherLog: boolean;
  readonly copy: Generation;
  readonly followers: Followers;
}

const positionIn = (places: Places | undefined, { name }: Projection): LogPosition | 'start' =>
  places?.get(name)?.position ?? 'start';

/** Builds a generation of the read models beside the one that serves, compares both, and lets the new one serve in one step. */
export class RebuildReadModels {
  readonly #deps: RebuildDependencies;

  constructor(dependencies: RebuildDependencies) {
    this.#deps = dependencies;
  }

  /** Whether what serves is there, and of no older version than this program. */
  async upToDate(): Promise<boolean> {
    const live = await this.#live();
    if (!live) return false;
    try {
      return (await this.#projectionThat(live, (one, program) => one < program)) === undefined;
    } finally {
      await live.close();
    }
  }

  /** Goes on with what an interrupted call left. @throws RebuildRefusedError @throws GenerationGoneError @throws PoisonEventError */
  async execute(request: RebuildRequest): Promise<RebuildResult> {
    const { generations } = this.#deps;
    const live = await this.#live();
    try {
      await this.#refuseOlderProgram(live);
      const { number, resumed } = await generations.begin();
      const copy = await generations.open(number);
      try {
        const followers = await this.#followers(request, live, copy);
        const otherLog = live !== undefined && (await this.#isOfOtherLog(live));
        const ended = await this.#build({ request, live, otherLog, copy, followers });
        const events = [...followers.values()].reduce((sum, follower) => sum + follower.events, 0);
        return { generation: number, resumed, events, ...ended };
      } finally {
        await copy.close();
      }
    } finally {
      await live?.close();
    }
  }

  async #build(building: Building): Promise<Pick<RebuildResult, 'outcome' | 'differences'>> {
    const { request, live, otherLog, followers } = building;
    await catchUpTogether([...followers.values()], this.#deps, request.signal);
    for (const follower of followers.values()) follower.remember();
    const otherVersion =
      live && (await this.#projectionThat(live, (one, program) => one < program)) !== undefined;
    const differences = live && !otherVersion && !otherLog ? await this.#compare(building) : 0;
    if (differences > 0 && !request.force) return { outcome: 'differs', differences };
    if (otherVersion && !request.force) return { outcome: 'ready', differences };
    await this.#switchOver(building);
    return { outcome: 'switched', differences };
  }

  async #live(): Promise<Generation | undefined> {
    const { generations } = this.#deps;
    const number = await generations.serving();
    return number === undefined ? undefined : generations.open(number);
  }

  /** A projection whose stored version is as asked for beside the program's. */
  async #projectionThat(
    live: Generation,
    is: (stored: number, program: number) => boolean,
  ): Promise<Projection | undefined> {
    const places = await live.places();
    return this.#deps.projections.find(({ name, version }) =>
      is(places.get(name)?.version ?? version, version),
    );
  }

  /** As after an older state of the log was restored: there its projectors stand still. */
  async #isOfOtherLog(live: Generation): Promise<boolean> {
    const positions = new Set([...(await live.places()).values()].map(({ position }) => position));
    for (const position of positions)
      if (position !== 'start' && (await misfit(this.#deps.log, position)) !== undefined) return true;
    return false;
  }

  async #refuseOlderProgram(live: Generation | undefined): Promise<void> {
    const newer = live && (await this.#projectionThat(live, (one, program) => one > program));
    if (!newer) return;
    throw new RebuildRefusedError(
      `${newer.name} serves a newer version than ${newer.version} of this program: use the program of the service`,
    );
  }

  async #followers(
    request: RebuildRequest,
    live: Generation | undefined,
    copy: Generation,
  ): Promise<Followers> {
    const { projections, order } = this.#deps;
    const goals = await live?.places();
    const entries = projections.map((projection) => {
      const goal = positionIn(goals, projection);
      const onProgress = (position: LogPosition): void => request.onProgress(order.share(position, goal));
      const follower = new GenerationFollower({ ...this.#deps, projection, store: copy.store, onProgress });
      return [projection, follower] as const;
    });
    return new Map(entries);
  }

  async #compare({ request, live, copy, followers }: Building): Promise<number> {
    const { generations, order, sleep } = this.#deps;
    const [pair, places] = [await generations.pair(live!.number, copy.number), await copy.places()];
    let differences = 0;
    try {
      for (const [projection, follower] of followers)
        differences += await compareGenerations({
          projection,
          pair,
          order,
          follower,
          begun: positionIn(places, projection),
          signal: request.signal,
          sleep,
          onDifference: (difference) => request.onDifference(projection, difference),
        });
    } finally {
      await pair.close();
    }
    return differences;
  }

  /** A read must find what an earlier one has shown: what comes to serve is never behind what serves. */
  async #switchOver({ request, live, otherLog, copy, followers }: Building): Promise<void> {
    const { generations, order, projections, sleep } = this.#deps;
    for (let attempt = 0; attempt < SWITCH_ATTEMPTS; attempt++) {
      await catchUpTogether([...followers.values()], this.#deps, request.signal);
      const [there, seen] = [await copy.places(), await live?.places()];
      const ahead =
        otherLog ||
        projections.every((one) => order.compare(positionIn(there, one), positionIn(seen, one)) >= 0);
      if (ahead && (await generations.letServe(copy.number, live && { live, seen: seen! }))) return;
      await sleep(Math.random() * SWITCH_PAUSE_MS);
    }
    throw new RebuildRefusedError(
      'the read models changed at every attempt to switch; what was built is kept, so the same command goes on with it',
    );
  }
}
