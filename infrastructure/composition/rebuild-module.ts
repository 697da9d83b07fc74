import type { Container } from 'inversify';
import type { ProjectionsServices } from '../cli/cli-services.ts';
import { allProjections } from './all-projections.ts';
import { rebuildOf } from './serving-generation.ts';
import { TOKENS } from './tokens.ts';

/** What the command line needs to build read models anew. */
export const projectionsServices = (container: Container): ProjectionsServices => {
  const generations = container.get(TOKENS.generations);
  const rebuilding = rebuildOf({ log: container.get(TOKENS.eventSubscription), generations });
  return {
    list: async function* () {
      for (const { number, state } of await generations.list()) {
        const generation = await generations.open(number);
        try {
          const places = await generation.places();
          for (const projection of allProjections)
            yield {
              generation: number,
              state,
              projection: projection.name,
              programVersion: projection.version,
              place: places.get(projection.name),
              rows: await generation.rows(projection),
            };
        } finally {
          await generation.close();
        }
      }
    },
    rebuild: (request) => rebuilding.execute(request),
    dropOld: () => generations.dropOld(),
  };
};
