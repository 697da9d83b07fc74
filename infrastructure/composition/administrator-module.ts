import { join } from 'node:path';
import { ContainerModule } from 'inversify';
import type { Container } from 'inversify';
import { LRUCache } from 'lru-cache';
import { deadLetterText } from '../../application/administrator/dead-letter.ts';
import { DecisionDesk } from '../../application/administrator/decision-desk.ts';
import { FindOperation } from '../../application/administrator/find-operation.ts';
import { ProcessDecisions } from '../../application/administrator/process-decisions.ts';
import { parseLoanStream } from '../../application/command-handling/stream-names.ts';
import type { DecisionDeadLetters } from '../../application/ports/decision-source.ts';
import type { Logger } from '../../application/ports/logger.ts';
import { EventStream } from '../../application/publishing/event-stream.ts';
import { StreamFundLookup } from '../../application/publishing/fund-lookup.ts';
import { PublicEventTranslator } from '../../application/publishing/public-event-translator.ts';
import { FileDeadLetters } from '../administrator/file-dead-letters.ts';
import type { AdministratorServices } from '../cli/cli-services.ts';
import { API_VERSION } from '../http/openapi/version.ts';
import { decodeRecorded } from './read-side.ts';
import { TOKENS } from './tokens.ts';

/** The command line prints every answer itself. */
const SILENT: Logger = {
  error: () => undefined,
  warn: () => undefined,
  info: () => undefined,
  debug: () => undefined,
};
const CACHED_FUNDS = 100_000;
const DEAD_LETTER_FILE = 'administrator-decisions.dead-letter.jsonl';

/** The administrator's side: decisions in, the event stream out. */
export const administratorModule = new ContainerModule(({ bind }) => {
  bind(TOKENS.decisionDesk).toResolvedValue(
    (decisions, events, clock, { environment }) =>
      new DecisionDesk({ decisions, events, clock, dates: { allowFuture: environment === 'sandbox' } }),
    [TOKENS.decisions, TOKENS.eventStore, TOKENS.clock, TOKENS.configuration],
  );
  bind(TOKENS.eventStream).toResolvedValue(
    (subscription, events) => {
      const funds = new StreamFundLookup(events, decodeRecorded, new LRUCache({ max: CACHED_FUNDS }));
      const translator = new PublicEventTranslator({
        decode: decodeRecorded,
        parseStream: parseLoanStream,
        funds,
        apiVersion: API_VERSION,
      });
      return new EventStream({ subscription, translate: (recorded) => translator.translate(recorded) });
    },
    [TOKENS.eventSubscription, TOKENS.eventStore],
  );
});

/** Decisions from one place, refused ones to another. */
export const decisionProcess = (
  container: Container,
  deadLetters: DecisionDeadLetters,
  logger: Logger = container.get(TOKENS.logger),
): ProcessDecisions =>
  new ProcessDecisions({
    desk: container.get(TOKENS.decisionDesk),
    deadLetters: container.get(TOKENS.observability).deadLetters(deadLetters),
    clock: container.get(TOKENS.clock),
    logger,
  });

/** The same as the command line needs it. */
export const administratorServices = (container: Container): AdministratorServices => {
  const desk = container.get(TOKENS.decisionDesk);
  const events = container.get(TOKENS.eventStore);
  const operations = new FindOperation({ registry: container.get(TOKENS.clientRegistry), events });
  const { dataDir } = container.get(TOKENS.configuration);
  return {
    applicationOf: (code) => operations.applicationOf(code),
    submitAll: (texts) => desk.submitAll(texts),
    into: (file) => {
      const deadLetter = file ?? join(dataDir, DEAD_LETTER_FILE);
      const decisions = decisionProcess(container, new FileDeadLetters(deadLetter, deadLetterText), SILENT);
      return { process: (received) => decisions.process(received), deadLetter };
    },
  };
};
