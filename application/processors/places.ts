import type { CheckpointStore } from '../coordination/stored-places.ts';
import type { ProcessorStore } from './processor.ts';

/** A place and nothing beside it. @param name of the place; stored, so never changed */
export const placeAlone = (checkpoints: CheckpointStore, name: string): ProcessorStore<never> => ({
  load: async () => ({ place: await checkpoints.load(name), held: [] }),
  commit: async ({ from, to }) => from === to || checkpoints.move(name, from, to),
});
