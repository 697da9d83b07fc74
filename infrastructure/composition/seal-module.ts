import { ContainerModule } from 'inversify';
import { SealLog } from '../../application/seals/seal-log.ts';
import { DataSealKeys } from '../security/audit-keys.ts';
import { WrappedKeys } from '../security/wrapped-keys.ts';
import { SqlSealBook } from '../sql/seal-book.ts';
import { throttled } from '../support/throttled.ts';
import { pause } from '../support/time.ts';
import { TOKENS } from './tokens.ts';

/** Nobody waits for a seal. */
const SEALER_PAUSE_MS = 100;

/** Seals over the whole log. */
export const sealModule = new ContainerModule(({ bind }) => {
  bind(TOKENS.dataKeys).toResolvedValue(
    (store, { masterKeys }) => new WrappedKeys(store, masterKeys, 'data-keys'),
    [TOKENS.keyStore, TOKENS.keys],
  );
  bind(TOKENS.sealKeys).toResolvedValue((keys) => new DataSealKeys(keys), [TOKENS.dataKeys]);
  bind(TOKENS.sealBook).toResolvedValue((db) => new SqlSealBook(db), [TOKENS.serviceDatabase]);
  bind(TOKENS.sealLog).toResolvedValue(
    (subscription, book, keys, { engines }, clock, logger, { follower }) =>
      new SealLog({
        subscription: follower('log-sealer', throttled(subscription, SEALER_PAUSE_MS)),
        book,
        keys,
        log: engines.eventStoreUrl === undefined ? 'embedded' : 'eventstoredb',
        clock,
        logger,
        sleep: pause,
      }),
    [
      ...([TOKENS.eventSubscription, TOKENS.sealBook, TOKENS.sealKeys, TOKENS.configuration] as const),
      ...([TOKENS.realClock, TOKENS.logger, TOKENS.observability] as const),
    ],
  );
});
