import type { ProjectionPlaces, RowDifference } from '../../application/ports/projection-copies.ts';
import type { RebuildResult } from '../../application/rebuild/rebuild-projection.ts';

/** Names of read models are those that `names` has. */
export interface ProjectionsServices {
  readonly names: readonly string[];
  show(name: string): Promise<{
    readonly version: number;
    readonly places: ProjectionPlaces;
    readonly rows: { readonly live: number; readonly copy: number };
  }>;
  rebuild(request: {
    readonly name: string;
    readonly force: boolean;
    readonly signal: AbortSignal;
    readonly onProgress: (share: number) => void;
    readonly onDifference: (difference: RowDifference) => void;
  }): Promise<RebuildResult>;
  /** False when there is nothing to drop. */
  drop(name: string): Promise<boolean>;
}
