import { RebuildReadModels } from '../../application/maintenance/rebuild/rebuild-read-models.ts';
import type {
  RebuildRequest,
  RebuildResult,
} from '../../application/maintenance/rebuild/rebuild-read-models.ts';
import type { LogPosition, RecordedEvent } from '../../application/ports/event-store.ts';
import type { GenerationState } from '../../application/sql/schema.ts';
import type { RowDifference } from '../../application/maintenance/rebuild/compare-generations.ts';
import type { GenerationTables } from '../../application/maintenance/rebuild/generations.ts';
import { Generations } from '../../application/maintenance/rebuild/generations.ts';
import { SqlProjectionStore } from '../../application/projecting/projection-store.ts';
import { ServingReadModel } from '../../application/maintenance/rebuild/serving-read-model.ts';
import type { SqlDatabase } from '../../application/sql/sql-database.ts';
import type { ProjectedEvent, Projection, TableWrite } from '../../projections/projection.ts';

export const TABLE = 'published_event';
export const at = (n: number): LogPosition => String(n) as LogPosition;
const stream = (n: number): string => `loan-app.S${n % 7}`;
const numberOf = (position: string): number => (position === 'start' ? 0 : Number(position));

/** One row an event. `status` is what this version of the program makes of it. */
export const write = (n: number, status: string): TableWrite => ({
  op: 'insert',
  table: TABLE,
  rows: [{ stream: stream(n), revision: n, event_id: status }],
});
export const projection = (version: number, status = ''): Projection => ({
  name: 'history',
  version,
  tables: [TABLE],
  project: ({ revision }) => [write(Number(revision), status)],
});

interface GenerationsUnderTest {
  readonly service: SqlDatabase;
  readonly tables: GenerationTables;
}

interface Rebuilding extends Partial<RebuildRequest> {
  readonly version?: number;
  readonly after?: () => Promise<void>;
}

/** A read model that serves, its log, and what a rebuild makes of the same log. */
export class World {
  readonly fixture: GenerationsUnderTest;
  readonly differences: RowDifference[] = [];
  /** How often a rebuild waited. */
  slept = 0;
  readonly #open: ServingReadModel[] = [];
  #readers!: ServingReadModel;
  #end = 0;

  constructor(fixture: GenerationsUnderTest) {
    this.fixture = fixture;
  }

  generations(version = 1, status?: string): Generations {
    return new Generations(this.fixture.service, this.fixture.tables, [projection(version, status)]);
  }

  /** The read model as another process opens it. */
  async opened(): Promise<ServingReadModel> {
    const readModel = await ServingReadModel.open(this.generations());
    this.#open.push(readModel);
    return readModel;
  }

  /** What the start of a service does with an empty log, and then its projector with what comes. */
  async begin(count: number, status = 'received'): Promise<void> {
    await this.rebuild(status, { force: true });
    this.#readers = await this.opened();
    this.append(count);
    if (count > 0) await this.serve(status);
  }

  append(count: number): void {
    this.#end += count;
  }

  /** The projector of the service takes in what is there. */
  async serve(status = 'received', through = this.#readers): Promise<boolean> {
    const store = new SqlProjectionStore(through);
    const place = await store.checkpoint(projection(1));
    const end = this.#end;
    const writes: TableWrite[] = [];
    for (let n = numberOf(place) + 1; n <= end; n++) writes.push(write(n, status));
    return writes.length === 0 || store.apply(projection(1), writes, place, at(end));
  }

  rebuild(status: string, { after, version = 1, ...request }: Rebuilding = {}): Promise<RebuildResult> {
    return this.#rebuilding(status, version, after).execute({
      force: false,
      signal: new AbortController().signal,
      onProgress: () => undefined,
      onDifference: (_, difference) => void this.differences.push(difference),
      ...request,
    });
  }

  upToDate(version = 1): Promise<boolean> {
    return this.#rebuilding('received', version).upToDate();
  }

  async rows(through = this.#readers): Promise<readonly string[]> {
    const query = through.builder
      .selectFrom(TABLE)
      .select(['revision', 'event_id as status'])
      .orderBy('revision');
    return (await through.read(query)).map(({ revision, status }) => `${revision} ${status}`);
  }

  async states(): Promise<Readonly<Record<number, GenerationState>>> {
    const all = await this.generations().list();
    return Object.fromEntries(all.map(({ number, state }) => [number, state]));
  }

  async close(): Promise<void> {
    for (const one of this.#open) await one.close();
  }

  #rebuilding(status: string, version: number, after = () => Promise.resolve()): RebuildReadModels {
    return new RebuildReadModels({
      generations: this.generations(version, status),
      log: { subscribe: ({ from }) => this.#log(numberOf(from)), ensureHas: () => Promise.resolve() },
      decode: (event) => event as unknown as ProjectedEvent,
      breathe: after,
      sleep: async () => void (this.slept += 1),
      order: { comparable: () => true, compare: (a, b) => numberOf(a) - numberOf(b), share: () => 1 },
    });
  }

  async *#log(from: number) {
    for (let n = from + 1; n <= this.#end; n += 3) {
      const last = Math.min(n + 2, this.#end);
      const events = Array.from({ length: last - n + 1 }, (_, i) => {
        const position = at(n + i);
        return { stream: stream(n + i), revision: BigInt(n + i), type: 'done', position } as RecordedEvent;
      });
      yield { kind: 'events' as const, events, checkpoint: at(last) };
    }
    yield { kind: 'caught_up' as const };
  }
}

export interface GenerationsCase {
  readonly name: string;
  readonly check: (world: World) => Promise<void>;
}

export const expected = (count: number, status: string): readonly string[] =>
  Array.from({ length: count }, (_, i) => `${i + 1} ${status}`);
