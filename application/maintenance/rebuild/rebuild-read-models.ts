import type { Projection } from '../../../projections/projection.ts';
import { misfit } from '../../processors/log-fit.ts';
import type { EventSubscription, LogPlaces, LogPosition } from '../../ports/event-store.ts';
import type { RowDifference } from './compare-generations.ts';
import type { Generation, Places } from './open-generation.ts';
import type { Generations } from './generations.ts';
import { compareGenerations } from './compare-generations.ts';
import { ReadModelCopy, catchUpTogether } from './read-model-copy.ts';
import type { CopyDependencies } from './read-model-copy.ts';

export interface RebuildDependencies extends CopyDependencies {
  readonly log: EventSubscription & Pick<LogPlaces, 'ensureHas'>;
  readonly generations: Generations;
  readonly sleep: (ms: number) => Promise<void>;
}

export interface RebuildRequest {
  /** Lets the new generation serve although rows differ, or although what serves has another version. */
  readonly force: boolean;
  readonly signal: AbortSignal;
  readonly onProgress: (share: number) => void;
  readonly onDifference: (projection: Projection, difference: RowDifference) => void | Promise<void>;
}

export interface RebuildResult {
  readonly generation: number;
  readonly outcome: 'switched' | 'ready' | 'differs';
  readonly resumed: boolean;
  readonly events: number;
  readonly differences: number;
}

/** A rebuild cannot begin, or cannot end as things are; the message says what to do. */
export class RebuildRefusedError extends Error {
  override readonly name = 'RebuildRefusedError';
}

const SWITCH_PAUSE_MS = 20;
const SWITCH_ATTEMPTS = 1_500;

type Copies = ReadonlyMap<Projection, ReadModelCopy>;

interface Building {
  readonly request: RebuildRequest;
  /** Undefined when nothing serves yet. */
  readonly live: Generation | undefined;
  /** What serves is of another log than this one: nothing in it can be compared or waited for. */
  readonly otherLog: boolean;
  /** What serves is of an older version: it goes on serving processes of the release before. */
  readonly otherVersion: boolean;
  readonly copy: Generation;
  readonly followers: Copies;
}

const positionIn = (places: Places | undefined, { name }: Projection): LogPosition | 'start' =>
  places?.get(name)?.position ?? 'start';

export class RebuildReadModels {
  readonly #deps: RebuildDependencies;

  constructor(dependencies: RebuildDependencies) {
    this.#deps = dependencies;
  }

  async upToDate(): Promise<boolean> {
    await using live = await this.#live();
    return live !== undefined && !(await this.#isOlder(live));
  }

  /** Goes on with what an interrupted call left. @throws RebuildRefusedError @throws PoisonEventError */
  async execute(request: RebuildRequest): Promise<RebuildResult> {
    const { generations } = this.#deps;
    await using live = await this.#live();
    await this.#refuseOlderProgram(live);
    const { number, resumed } = await generations.begin();
    await using copy = await generations.open(number);
    const followers = await this.#followers(request, live, copy);
    const otherLog = live !== undefined && (await this.#isOfOtherLog(live));
    const otherVersion = live !== undefined && (await this.#isOlder(live));
    const ended = await this.#build({ request, live, otherLog, otherVersion, copy, followers });
    // Each follower has read the same log.
    const events = Math.max(0, ...[...followers.values()].map((follower) => follower.events));
    return { generation: number, resumed, events, ...ended };
  }

  async #build(building: Building): Promise<Pick<RebuildResult, 'outcome' | 'differences'>> {
    const { request, live, otherLog, otherVersion, followers } = building;
    await catchUpTogether([...followers.values()], this.#deps, request.signal);
    for (const follower of followers.values()) follower.remember();
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

  async #projectionThat(
    live: Generation,
    is: (stored: number, program: number) => boolean,
  ): Promise<Projection | undefined> {
    const places = await live.places();
    return this.#deps.generations.projections.find(({ name, version }) =>
      is(places.get(name)?.version ?? version, version),
    );
  }

  async #isOlder(live: Generation): Promise<boolean> {
    return (await this.#projectionThat(live, (stored, program) => stored < program)) !== undefined;
  }

  /** As after an older state of the log was restored: there its projectors stand still. */
  async #isOfOtherLog(live: Generation): Promise<boolean> {
    const positions = new Set([...(await live.places()).values()].map(({ position }) => position));
    for (const position of positions) if ((await misfit(this.#deps.log, position)) !== undefined) return true;
    return false;
  }

  async #refuseOlderProgram(live: Generation | undefined): Promise<void> {
    const newer = live && (await this.#projectionThat(live, (one, program) => one > program));
    if (!newer) return;
    throw new RebuildRefusedError(
      `${newer.name} serves a newer version than ${newer.version} of this program: use the program of the service`,
    );
  }

  async #followers(request: RebuildRequest, live: Generation | undefined, copy: Generation): Promise<Copies> {
    const { generations, order } = this.#deps;
    const goals = await live?.places();
    const entries = generations.projections.map((projection) => {
      const goal = positionIn(goals, projection);
      const onProgress = (position: LogPosition): void => request.onProgress(order.share(position, goal));
      const follower = new ReadModelCopy({ ...this.#deps, projection, store: copy.store, onProgress });
      return [projection, follower] as const;
    });
    return new Map(entries);
  }

  async #compare({ request, live, copy, followers }: Building): Promise<number> {
    const { generations, order, sleep } = this.#deps;
    await using pair = await generations.pair(live!.number, copy.number);
    let differences = 0;
    for (const [projection, follower] of followers)
      differences += await compareGenerations({
        projection,
        pair,
        order,
        follower,
        serves: async () => (await generations.serving()) === live!.number,
        signal: request.signal,
        sleep,
        onDifference: (difference) => request.onDifference(projection, difference),
      });
    return differences;
  }

  /** A read must find what an earlier one has shown: what comes to serve is never behind what serves. */
  async #switchOver(building: Building): Promise<void> {
    const { request, live, otherLog, otherVersion, copy, followers } = building;
    const { generations, order, sleep } = this.#deps;
    for (let attempt = 0; attempt < SWITCH_ATTEMPTS; attempt++) {
      await catchUpTogether([...followers.values()], this.#deps, request.signal);
      const [there, seen] = [await copy.places(), await live?.places()];
      const ahead =
        otherLog ||
        generations.projections.every(
          (one) => order.compare(positionIn(there, one), positionIn(seen, one)) >= 0,
        );
      const before = live && !otherVersion ? { live, seen: seen! } : undefined;
      if (ahead && (await generations.letServe(copy.number, before))) return;
      await sleep(Math.random() * SWITCH_PAUSE_MS);
    }
    throw new RebuildRefusedError(
      'the read models changed at every attempt to switch; what was built is kept, so the same command goes on with it',
    );
  }
}
