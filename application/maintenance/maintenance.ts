import type { ProjectedEvent } from '../../projections/projection.ts';
import { EarlierReleaseError } from '../event-codec/stored-formats.ts';
import type { StoredFormats } from '../event-codec/stored-formats.ts';
import { countStates } from '../loans/operation-states.ts';
import type { CheckpointStore } from '../coordination/stored-places.ts';
import type { RelayQuarantine } from '../publication/relay.ts';
import type { EventStore, EventSubscription, LogPlaces, RecordedEvent } from '../ports/event-store.ts';
import type { LogOrder } from '../ports/read-models.ts';
import type { ProjectionStore } from '../projecting/projection-store.ts';
import type { Renegotiation } from '../renegotiation/renegotiation.ts';
import type { SqlDatabase } from '../sql/sql-database.ts';
import { beginWithin } from '../webhooks/subscriptions.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';
import type { Counting, FoundService, Health, Lag, ServiceStatus } from './service-status.ts';
import { FollowerPlaces } from './follower-places.ts';
import type { RotationResult } from './master-key-rotation.ts';
import { QuarantinedOperations } from './quarantine/quarantined-operations.ts';
import type { Generations } from './rebuild/generations.ts';
import type { RebuildReadModels, RebuildRequest } from './rebuild/rebuild-read-models.ts';
import type { SandboxClock } from './sandbox/sandbox-clock.ts';
import { idleRolesOf, lagOf } from './service-status.ts';

interface Dependencies {
  readonly log: EventStore & EventSubscription & LogPlaces;
  readonly order: LogOrder;
  readonly within: Counting['within'];
  readonly decode: (event: RecordedEvent) => ProjectedEvent | undefined;
  readonly projectionStore: ProjectionStore;
  readonly generations: Generations;
  readonly rebuilding: () => RebuildReadModels;
  readonly checkpoints: CheckpointStore;
  readonly relayQuarantine: RelayQuarantine;
  readonly renegotiation: () => Renegotiation;
  readonly actors: () => readonly { resume(stream: string): Promise<void> }[];
  readonly webhooks: () => Webhooks;
  readonly serviceDatabase: SqlDatabase;
  readonly readModelDatabase: SqlDatabase;
  readonly formats: StoredFormats;
  readonly sandboxClock: SandboxClock | undefined;
  readonly rotateMasterKey: () => Promise<RotationResult>;
  readonly findService: () => Promise<FoundService>;
  readonly engines: () => Promise<ServiceStatus['engines']>;
}

const NOT_BESIDE_EARLIER =
  'processes of release 2026.11.1 may still run, and they know one master key only; when none does, run `receivables upgrade finish` first';

export class Maintenance {
  readonly #deps: Dependencies;
  readonly sandboxClock: SandboxClock | undefined;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
    this.sandboxClock = dependencies.sandboxClock;
  }

  /** The generations of the read models; a rebuild may be refused with RebuildRefusedError, and what is dropped is told by its number. */
  get readModels() {
    const { generations, rebuilding } = this.#deps;
    return {
      list: () => generations.readModels(),
      rebuild: (request: RebuildRequest) => rebuilding().execute(request),
      dropOld: () => generations.dropOld(),
    };
  }

  get quarantine(): QuarantinedOperations {
    const { renegotiation, actors, generations, projectionStore, relayQuarantine, log, decode, order } =
      this.#deps;
    return new QuarantinedOperations({
      renegotiation: renegotiation().conclusion,
      actors: actors(),
      projections: generations.projections,
      store: projectionStore,
      relay: relayQuarantine,
      events: log,
      decode,
      order,
    });
  }

  get followers(): FollowerPlaces {
    const { checkpoints, log, serviceDatabase, order } = this.#deps;
    return new FollowerPlaces(checkpoints, log, (end) => beginWithin(serviceDatabase, order, end));
  }

  async lag(): Promise<Lag> {
    const { found } = await this.#deps.findService();
    return { running: found !== null, ...(await lagOf(this.#deps)) };
  }

  health(): Promise<Health> {
    return this.#healthOf(this.#deps.findService());
  }

  async #healthOf(looking: FoundService | Promise<FoundService>): Promise<Health> {
    const [service, lag, waiting] = await Promise.all([
      looking,
      lagOf(this.#deps),
      this.quarantine.streams(),
    ]);
    return {
      ...{ running: service.found !== null, ...lag },
      ...{ idleRoles: idleRolesOf(service), quarantined: waiting.length },
    };
  }

  places(): Promise<readonly string[]> {
    const { generations, projectionStore } = this.#deps;
    return Promise.all(generations.projections.map((one) => projectionStore.checkpoint(one)));
  }

  /** Nothing is waited for: a read model that is behind is shown as behind. */
  async status(): Promise<ServiceStatus> {
    const { findService, engines, readModelDatabase } = this.#deps;
    const service = await findService();
    return {
      ...service,
      ...(await this.#healthOf(service)),
      engines: await engines(),
      operations: await countStates(readModelDatabase),
    };
  }

  /** Every stored key and secret is wrapped by the new master key afterwards. @throws EarlierReleaseError @throws RotationRefusedError */
  async rotateMasterKey(): Promise<RotationResult> {
    const { formats, rotateMasterKey } = this.#deps;
    if (await formats.forEarlierRelease()) throw new EarlierReleaseError(NOT_BESIDE_EARLIER);
    return rotateMasterKey();
  }

  /** From now on what only this release reads is stored: no process of an earlier one runs any more. For good. */
  finishUpgrade(): Promise<void> {
    return this.#deps.formats.leaveEarlierRelease();
  }
}
