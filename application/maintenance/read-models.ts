import type { Projection } from '../../projections/projection.ts';
import type { GenerationState } from '../sql/schema.ts';
import type { Generations } from './rebuild/generations.ts';
import type { ProjectionPlace } from './rebuild/open-generation.ts';
import type { RebuildReadModels, RebuildRequest, RebuildResult } from './rebuild/rebuild-read-models.ts';

/** One read model of one generation. */
export interface ListedReadModel {
  readonly generation: number;
  readonly state: GenerationState;
  readonly projection: string;
  readonly programVersion: number;
  /** Undefined before the first batch. */
  readonly place: ProjectionPlace | undefined;
  /** Null where they cannot be counted. */
  readonly rows: number | null;
}

/** The generations of the read models, for who looks after them. */
export class ReadModels {
  readonly #generations: Generations;
  readonly #projections: readonly Projection[];
  readonly #rebuilding: RebuildReadModels;

  constructor(generations: Generations, projections: readonly Projection[], rebuilding: RebuildReadModels) {
    this.#generations = generations;
    this.#projections = projections;
    this.#rebuilding = rebuilding;
  }

  async *list(): AsyncGenerator<ListedReadModel> {
    for (const { number, state } of await this.#generations.list()) {
      if (state === 'damaged') {
        for (const { name: projection, version: programVersion } of this.#projections)
          yield { generation: number, state, projection, programVersion, place: undefined, rows: null };
        continue;
      }
      const generation = await this.#generations.open(number);
      try {
        const places = await generation.places();
        for (const projection of this.#projections) {
          const place = places.get(projection.name);
          yield {
            generation: number,
            state,
            projection: projection.name,
            programVersion: projection.version,
            place,
            // Another version may have other tables.
            rows: place?.version === projection.version ? await generation.rows(projection) : null,
          };
        }
      } finally {
        await generation.close();
      }
    }
  }

  /** @throws RebuildRefusedError */
  rebuild(request: RebuildRequest): Promise<RebuildResult> {
    return this.#rebuilding.execute(request);
  }

  /** The numbers of the generations that are gone now. */
  dropOld(): Promise<readonly number[]> {
    return this.#generations.dropOld();
  }
}
