import type { GenerationState } from '../sql/schema.ts';
import type { Generations } from './rebuild/generations.ts';
import type { ProjectionPlace } from './rebuild/open-generation.ts';

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

/** Each read model of each generation. */
export async function* listReadModels(generations: Generations): AsyncGenerator<ListedReadModel> {
  const { projections } = generations;
  for (const { number, state } of await generations.list()) {
    if (state === 'damaged') {
      for (const { name: projection, version: programVersion } of projections)
        yield { generation: number, state, projection, programVersion, place: undefined, rows: null };
      continue;
    }
    const generation = await generations.open(number);
    try {
      const places = await generation.places();
      for (const projection of projections) {
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
