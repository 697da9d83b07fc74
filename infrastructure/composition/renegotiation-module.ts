import { ContainerModule } from 'inversify';
import { LRUCache } from 'lru-cache';
import type { Operation } from '../../application/command-handling/operation.ts';
import { CompleteRenegotiations } from '../../application/renegotiation/complete-renegotiations.ts';
import { RecoverRenegotiations } from '../../application/renegotiation/recover-renegotiations.ts';
import { RenegotiateLoans } from '../../application/renegotiation/renegotiate-loans.ts';
import { renegotiationParts } from '../../application/renegotiation/renegotiation-parts.ts';
import { throttled } from '../support/throttled.ts';
import { pause } from '../support/time.ts';
import { TOKENS } from './tokens.ts';

/** Operations in memory, counted in installments: what an operation weighs. */
const CACHED_INSTALLMENTS = 1_000_000;
const FOLLOWER_PAUSE_MS = 100;

const weight = ({ state }: Operation): number => ('schedule' in state ? state.schedule.length : 1);

/** Renegotiations, and the memory of operations that they share with the commands. */
export const renegotiationModule = new ContainerModule(({ bind }) => {
  const { clock, logger, eventStore, eventSubscription, checkpoints, operationCache } = TOKENS;

  bind(operationCache).toResolvedValue(
    () => new LRUCache<string, Operation>({ maxSize: CACHED_INSTALLMENTS, sizeCalculation: weight }),
    [],
  );
  bind(TOKENS.renegotiationParts).toResolvedValue(
    (events, time, realClock, cache) => renegotiationParts({ events, clock: time, realClock, cache, pause }),
    [eventStore, clock, TOKENS.realClock, operationCache],
  );
  bind(TOKENS.renegotiateLoans).toResolvedValue(
    ({ protocol, loans, resolving }, vault, documents, inspector, time) =>
      new RenegotiateLoans({
        protocol,
        loans,
        reservations: resolving,
        vault,
        documents,
        inspector,
        clock: time,
      }),
    [TOKENS.renegotiationParts, TOKENS.borrowerVault, TOKENS.documents, TOKENS.inspector, clock],
  );
  bind(TOKENS.recoverRenegotiations).toResolvedValue(
    ({ resolving }, subscription, positions, realClock, log, { follower }) =>
      new RecoverRenegotiations({
        resolving,
        subscription: follower('renegotiation-recovery', throttled(subscription, FOLLOWER_PAUSE_MS)),
        checkpoints: positions,
        realClock,
        logger: log,
        sleep: pause,
      }),
    [
      TOKENS.renegotiationParts,
      eventSubscription,
      checkpoints,
      TOKENS.realClock,
      logger,
      TOKENS.observability,
    ],
  );
  bind(TOKENS.completeRenegotiations).toResolvedValue(
    (commands, subscription, positions, log, { follower }) =>
      new CompleteRenegotiations({
        commands,
        subscription: follower('renegotiation-completion', throttled(subscription, FOLLOWER_PAUSE_MS)),
        checkpoints: positions,
        logger: log,
        sleep: pause,
      }),
    [TOKENS.commands, eventSubscription, checkpoints, logger, TOKENS.observability],
  );
});
