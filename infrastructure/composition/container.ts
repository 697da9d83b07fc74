import 'reflect-metadata';
import { Container } from 'inversify';
import type { ServiceIdentifier } from 'inversify';
import { adapterArea } from './areas/adapters.ts';
import type { Adapters } from './areas/adapters.ts';
import { join } from 'node:path';
import { Administrator } from '../../application/administrator/administrator.ts';
import { pause, throttled } from '../support/time.ts';
import { FileDeadLetters } from '../administrator/file-dead-letters.ts';
import { accessArea, rateLimiterOf } from './areas/clients.ts';
import { commandArea } from './areas/loans.ts';
import type { Commands } from './areas/loans.ts';
import { documentArea } from './areas/documents.ts';
import { TokenSigningKeys } from '../security/token-signing-keys.ts';
import { WrappedKeys } from '../security/wrapped-keys.ts';
import { publicationOf, relayOf } from './publication.ts';
import { readModelArea } from './areas/read-models.ts';
import { sandboxClockOf, schedulingArea } from './areas/scheduling.ts';
import { webhooksOf } from './webhooks.ts';
import type { Foundations } from './foundations.ts';
import { appOf } from './app.ts';
import type { Parts } from './parts.ts';
import { lazily } from '../support/lazily.ts';

const DEAD_LETTER_FILE = 'administrator-decisions.dead-letter.jsonl';
const ADMINISTRATOR_PAUSE_MS = 40;

const token = <Name extends keyof Parts>(name: Name): ServiceIdentifier<Parts[Name]> => Symbol(name);
const TOKENS = {
  foundations: token('foundations'),
  adapters: token('adapters'),
  documents: token('documents'),
  readModels: token('readModels'),
  commands: token('commands'),
  relay: token('relay'),
  publication: token('publication'),
  webhooks: token('webhooks'),
  administrator: token('administrator'),
  scheduling: token('scheduling'),
  signingKeys: token('signingKeys'),
  access: token('access'),
  app: token('app'),
  rateLimiter: token('rateLimiter'),
  sandboxClock: token('sandboxClock'),
} as const satisfies { readonly [Name in keyof Parts]: ServiceIdentifier<Parts[Name]> };

/** What was chosen at the start, and the areas built from it: each is made once, when it is first asked for. */
export const partsOf = (chosen: Foundations): Parts => {
  const container = new Container({ defaultScope: 'Singleton' });
  const { foundations, adapters, documents, commands, readModels, administrator, signingKeys } = TOKENS;
  container.bind(foundations).toConstantValue(chosen);
  container.bind(adapters).toResolvedValue(adapterArea, [foundations]);
  container.bind(documents).toResolvedValue(documentArea, [foundations, adapters]);
  container.bind(readModels).toResolvedValue(readModelArea, [foundations, adapters]);
  container.bind(commands).toResolvedValue(commandArea, [foundations, adapters, documents]);
  container.bind(TOKENS.relay).toResolvedValue(relayOf, [foundations, TOKENS.publication, TOKENS.webhooks]);
  container.bind(TOKENS.publication).toResolvedValue(publicationOf, [foundations, adapters]);
  container.bind(TOKENS.webhooks).toResolvedValue(webhooksOf, [foundations, adapters, TOKENS.publication]);
  container.bind(administrator).toResolvedValue(
    (
      { clock, configuration, engines, observability, logger }: Foundations,
      { events, formats, checkpoints }: Adapters,
      { handler }: Commands,
    ) =>
      new Administrator({
        commands: handler,
        formats,
        events,
        readModel: engines.readModelDatabase,
        clock,
        disbursementTolerance: configuration.disbursementTolerance,
        deadLetterFile: (path = join(configuration.dataDir, DEAD_LETTER_FILE)) => new FileDeadLetters(path),
        onPutAside: (reason) => observability.metrics?.work.deadLetter(reason),
        ...(configuration.environment === 'sandbox' && {
          sandbox: () => ({
            subscription: observability.follower(
              'sandbox-administrator',
              throttled(engines.eventStore, ADMINISTRATOR_PAUSE_MS),
            ),
            checkpoints,
            logger,
            sleep: pause,
            step: configuration.sandboxStep,
          }),
        }),
      }),
    [foundations, adapters, commands],
  );
  container.bind(TOKENS.scheduling).toResolvedValue(schedulingArea, [foundations, adapters, commands]);
  container.bind(signingKeys).toResolvedValue(
    ({ keys, realClock: clock, logger }: Foundations, { keyStore }: Adapters) =>
      new TokenSigningKeys({
        store: new WrappedKeys(keyStore, keys.masterKeys, 'signing-keys'),
        clock,
        logger,
      }),
    [foundations, adapters],
  );
  container.bind(TOKENS.access).toResolvedValue(accessArea, [foundations, adapters, signingKeys]);
  container.bind(TOKENS.rateLimiter).toResolvedValue(rateLimiterOf, [foundations]);
  container.bind(TOKENS.sandboxClock).toResolvedValue(sandboxClockOf, [foundations]);
  container.bind(TOKENS.app).toDynamicValue(() => appOf(parts));
  const makers = Object.entries(TOKENS).map(([name, one]) => [name, () => container.get<unknown>(one)]);
  const parts: Parts = lazily(Object.fromEntries(makers) as { [Name in keyof Parts]: () => Parts[Name] });
  return parts;
};
