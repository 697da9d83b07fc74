import { ContainerModule } from 'inversify';
import { NearestProgress } from '../../application/loans/nearest-progress.ts';
import { PolledProgress } from '../../application/loans/polled-progress.ts';
import { SharedTokenBucketLimiter } from '../http/limits/shared-token-bucket-limiter.ts';
import { TokenBucketLimiter } from '../http/limits/rate-limiter.ts';
import { SandboxClock } from '../../application/sandbox/sandbox-clock.ts';
import { SqlClockOffset } from '../sql/clock-offset.ts';
import { SqlLeases } from '../sql/leases.ts';
import { SqlLoanVersions } from '../sql/read-models/loan-reader.ts';
import { SqlRateBuckets } from '../sql/rate-buckets.ts';
import { sharesStores } from './engines.ts';
import { pause } from '../support/time.ts';
import { TOKENS } from './tokens.ts';

const monotonic = (): number => performance.now();

/** What processes that share their stores agree on; alone, a process knows these things by itself. */
export const coordinationModule = new ContainerModule(({ bind }) => {
  bind(TOKENS.leases).toResolvedValue((db) => new SqlLeases(db), [TOKENS.serviceDatabase]);
  bind(TOKENS.sandboxClock).toResolvedValue(
    (clock, realClock, db, logger) =>
      clock &&
      new SandboxClock({ clock, realClock, offset: new SqlClockOffset(db, realClock), logger, sleep: pause }),
    [TOKENS.movableClock, TOKENS.realClock, TOKENS.serviceDatabase, TOKENS.logger],
  );
  bind(TOKENS.readModelProgress).toResolvedValue(
    (projector, db) => {
      // A command beside an embedded service writes the same read model when it rebuilds it.
      const elsewhere = new PolledProgress({
        versions: new SqlLoanVersions(db),
        sleep: pause,
        now: monotonic,
      });
      return new NearestProgress({ local: projector, elsewhere, now: monotonic });
    },
    [TOKENS.loanProjector, TOKENS.readModelDatabase],
  );
  bind(TOKENS.rateLimiter).toResolvedValue(
    (configuration, db, logger) => {
      const local = new TokenBucketLimiter();
      if (!sharesStores(configuration)) return local;
      return new SharedTokenBucketLimiter({ buckets: new SqlRateBuckets(db), local, logger, now: monotonic });
    },
    [TOKENS.configuration, TOKENS.serviceDatabase, TOKENS.logger],
  );
});
