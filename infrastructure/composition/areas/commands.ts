import { LRUCache } from 'lru-cache';
import { CommandHandler } from '../../../application/command-handling/command-handler.ts';
import type { Operation } from '../../../application/command-handling/operation.ts';
import { renegotiationParts } from '../../../application/renegotiation/renegotiation-parts.ts';
import { pause } from '../../support/time.ts';
import type { Foundations } from '../foundations.ts';
import type { Adapters } from './adapters.ts';

/** Operations in memory, counted in installments: what an operation weighs. */
const CACHED_INSTALLMENTS = 1_000_000;

const weight = ({ state }: Operation): number => ('schedule' in state ? state.schedule.length : 1);

/** The command handler and the renegotiation protocol, with the memory of operations that they share. */
export const commandArea = ({ clock, realClock, observability }: Foundations, { events }: Adapters) => {
  const cache = new LRUCache<string, Operation>({
    maxSize: CACHED_INSTALLMENTS,
    sizeCalculation: weight,
  });
  const renegotiation = renegotiationParts({ events, clock, realClock, cache, pause });
  const handler = new CommandHandler({
    events,
    cache,
    clock,
    reservations: renegotiation.resolving,
    pause,
    watch: observability.commands,
  });
  return { handler, renegotiation };
};

export type Commands = ReturnType<typeof commandArea>;
