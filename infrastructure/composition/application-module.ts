import { ContainerModule } from 'inversify';
import { LRUCache } from 'lru-cache';
import { AdministratorDecisions } from '../../application/administrator/decisions.ts';
import { SandboxAdministrator } from '../../application/administrator/sandbox-administrator.ts';
import { ClientDirectory } from '../../application/clients/client-directory.ts';
import { CreateClient } from '../../application/clients/create-client.ts';
import { CommandHandler } from '../../application/command-handling/command-handler.ts';
import { LOAN_STREAM_PREFIX, parseLoanStream } from '../../application/command-handling/stream-names.ts';
import { AssignLoan } from '../../application/loans/assign-loan.ts';
import { LoanReading } from '../../application/loans/read-loan.ts';
import { SettleInstallment } from '../../application/loans/settle-installment.ts';
import { StreamFundLookup } from '../../application/publishing/fund-lookup.ts';
import { HeldOperations } from '../../application/publishing/held-operations.ts';
import { OutboxRelay } from '../../application/publishing/outbox-relay.ts';
import { PublicEventTranslator } from '../../application/publishing/public-event-translator.ts';
import { Projector } from '../../projections/engine/projector.ts';
import { loanProjection } from '../../projections/loan/loan-projection.ts';
import { API_VERSION } from '../http/openapi/version.ts';
import { RandomClientCredentials } from '../security/client-secrets.ts';
import { SqlLoanVersions } from '../sql/read-models/loan-reader.ts';
import { throttled } from '../support/throttled.ts';
import { pause } from '../support/time.ts';
import { decodeRecorded, toProjected } from './read-side.ts';
import { TOKENS } from './tokens.ts';

const CACHED_FUNDS = 100_000;
/** How long followers of the log let events gather after a batch: readers wait for the first two, nobody for the third. */
const PROJECTOR_PAUSE_MS = 8;
const RELAY_PAUSE_MS = 20;
const ADMINISTRATOR_PAUSE_MS = 40;

/** Use cases and the processes that move events on. */
export const applicationModule = new ContainerModule(({ bind }) => {
  const {
    clock,
    logger,
    configuration,
    eventStore,
    eventSubscription,
    checkpoints,
    commands,
    borrowerVault,
  } = TOKENS;

  bind(commands).toResolvedValue(
    (events, cache, time, { resolving }, { commands: watch }) =>
      new CommandHandler({ events, cache, clock: time, reservations: resolving, pause, watch }),
    [eventStore, TOKENS.operationCache, clock, TOKENS.renegotiationParts, TOKENS.observability],
  );
  bind(TOKENS.assignLoan).toResolvedValue(
    (handler, vault, documents, inspector, time) =>
      new AssignLoan({ commands: handler, vault, documents, inspector, clock: time }),
    [commands, borrowerVault, TOKENS.documents, TOKENS.inspector, clock],
  );
  bind(TOKENS.settleInstallment).toResolvedValue(
    (handler, vault, time, { environment }) =>
      new SettleInstallment({
        commands: handler,
        vault,
        clock: time,
        paymentDates: { allowFuture: environment === 'sandbox' },
      }),
    [commands, borrowerVault, clock, configuration],
  );
  bind(TOKENS.loanReading).toResolvedValue(
    (events, loans, progress, vault, contents, time, db, writes) =>
      new LoanReading({
        events,
        loans,
        progress,
        vault,
        contents,
        clock: time,
        versions: new SqlLoanVersions(db),
        writes,
      }),
    [
      eventStore,
      TOKENS.loanReader,
      TOKENS.readModelProgress,
      borrowerVault,
      TOKENS.documents,
      clock,
      TOKENS.readModelDatabase,
      TOKENS.ownWrites,
    ],
  );
  bind(TOKENS.clientDirectory).toResolvedValue(
    (registry) => new ClientDirectory(registry),
    [TOKENS.clientRegistry],
  );
  bind(TOKENS.createClient).toResolvedValue(
    (registry, time, formats) => {
      const credentials = new RandomClientCredentials(formats);
      return new CreateClient({ registry, credentials, clock: time, formats });
    },
    [TOKENS.clientRegistry, TOKENS.realClock, TOKENS.storedFormats],
  );
  bind(TOKENS.decisions).toResolvedValue(
    (handler, formats) => new AdministratorDecisions(handler, formats),
    [commands, TOKENS.storedFormats],
  );
  bind(TOKENS.sandboxAdministrator).toResolvedValue(
    (decisions, subscription, positions, time, log, { sandboxStep }, { follower }) =>
      new SandboxAdministrator({
        decisions,
        subscription: follower('sandbox-administrator', throttled(subscription, ADMINISTRATOR_PAUSE_MS)),
        checkpoints: positions,
        clock: time,
        logger: log,
        sleep: pause,
        step: sandboxStep,
      }),
    [TOKENS.decisions, eventSubscription, checkpoints, clock, logger, configuration, TOKENS.observability],
  );

  bind(TOKENS.loanProjector).toResolvedValue(
    (log, store, writer, { follower }) =>
      new Projector({
        projection: loanProjection,
        log: follower('loan-projector', throttled(log, PROJECTOR_PAUSE_MS)),
        store,
        decode: toProjected,
        logger: writer,
      }),
    [eventSubscription, TOKENS.projectionStore, logger, TOKENS.observability],
  );
  bind(TOKENS.relay).toResolvedValue(
    (subscription, positions, bus, events, log, { follower, translation }, quarantine) => {
      const funds = new StreamFundLookup(events, decodeRecorded, new LRUCache({ max: CACHED_FUNDS }));
      const translator = new PublicEventTranslator({
        decode: decodeRecorded,
        parseStream: parseLoanStream,
        funds,
        apiVersion: API_VERSION,
      });
      return new OutboxRelay({
        subscription: follower('relay', throttled(subscription, RELAY_PAUSE_MS)),
        checkpoints: positions,
        bus,
        held: new HeldOperations({
          quarantine,
          events,
          bus,
          translate: translation((recorded) => translator.translate(recorded)),
          logger: log,
        }),
        logger: log,
        streamPrefix: LOAN_STREAM_PREFIX,
        sleep: pause,
      });
    },
    [
      eventSubscription,
      checkpoints,
      TOKENS.eventBus,
      eventStore,
      logger,
      TOKENS.observability,
      TOKENS.relayQuarantine,
    ],
  );
});
