import type { GenerationState, ProjectionPlace, RowDifference } from '../../application/ports/read-models.ts';
import type { RebuildResult } from '../../application/rebuild/rebuild-read-models.ts';

/** One read model of one generation. */
export interface ListedReadModel {
  readonly generation: number;
  readonly state: GenerationState;
  readonly projection: string;
  readonly programVersion: number;
  /** Undefined before the first batch. */
  readonly place: ProjectionPlace | undefined;
  readonly rows: number;
}

export interface ProjectionsServices {
  list(): AsyncIterable<ListedReadModel>;
  rebuild(request: {
    readonly force: boolean;
    readonly signal: AbortSignal;
    readonly onProgress: (share: number) => void;
    readonly onDifference: (projection: { readonly name: string }, difference: RowDifference) => void;
  }): Promise<RebuildResult>;
  /** The numbers of the generations that are gone now. */
  dropOld(): Promise<readonly number[]>;
}
