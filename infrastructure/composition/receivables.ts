import { ListClients } from '../../application/clients/list-clients.ts';
import { RevokeClient } from '../../application/clients/revoke-client.ts';
import { UpdateClient } from '../../application/clients/update-client.ts';
import { WebhookRecovery } from '../../application/webhooks/webhook-recovery.ts';
import packageJson from '../../package.json' with { type: 'json' };
import type { CliServices, Forwarder } from '../cli/cli-services.ts';
import { NotAllowedError } from '../cli/command-line.ts';
import { runProgram } from '../cli/program.ts';
import { CommandOutput, ask, onKey, progressOn, showsColours, untilInterrupted } from '../cli/terminal.ts';
import { createLogger } from '../observability/logging.ts';
import { SqlDeliveryLog } from '../sql/webhooks/delivery-log.ts';
import { SqlDeliveryQueue } from '../sql/webhooks/delivery-queue.ts';
import { SqlWebhookSubscriptions } from '../sql/webhooks/subscriptions.ts';
import { PRIVATE_UMASK } from '../support/private-files.ts';
import { WebhookForwarder } from '../webhooks/sending/forwarder.ts';
import { SystemRandom } from '../webhooks/sending/signing-keys.ts';
import { administratorServices } from './administrator-module.ts';
import { auditServices } from './audit-module.ts';
import { backupServices } from './backup-module.ts';
import { readConfiguration } from './configuration.ts';
import type { Configuration } from './configuration.ts';
import { createContainer } from './container.ts';
import { requireServiceData } from './data-directory.ts';
import { examine } from './doctor.ts';
import { openFoundations } from './foundations.ts';
import { fundSideServices } from './fund-side-module.ts';
import { keyServices } from './key-services.ts';
import { loanServices } from './loan-services.ts';
import { openMoveFor } from './migrate-module.ts';
import { privacyServices } from './privacy-services.ts';
import { quarantineOf } from './quarantine-services.ts';
import { projectionsServices } from './rebuild-module.ts';
import { statusOf } from './status-services.ts';
import { TOKENS } from './tokens.ts';

const logToStandardError = (level: Configuration['logLevel']) =>
  createLogger(level, { write: (line: string) => void process.stderr.write(line) });

/** Opens the same stores as the service, which may be running. Its log goes to standard error: the answer is alone on the other. */
const open = async (): Promise<CliServices> => {
  const configuration = readConfiguration(process.env);
  requireServiceData(configuration);
  const logger = logToStandardError(configuration.logLevel);
  const foundations = await openFoundations(configuration, logger);
  const container = createContainer(foundations);
  const database = foundations.engines.serviceDatabase;
  const registry = container.get(TOKENS.clientRegistry);
  return {
    createClient: container.get(TOKENS.createClient),
    listClients: new ListClients(registry),
    updateClient: new UpdateClient(registry),
    revokeClient: new RevokeClient(registry, foundations.realClock),
    loans: loanServices(container),
    status: statusOf(container),
    forwarder: (url) => forwarderTo(url, configuration),
    keys: keyServices(container),
    webhooks: new WebhookRecovery({
      subscriptions: new SqlWebhookSubscriptions(database),
      log: new SqlDeliveryLog(database),
      queue: new SqlDeliveryQueue(database),
      clock: foundations.realClock,
    }),
    administrator: administratorServices(container),
    events: container.get(TOKENS.eventStream),
    fundSide: fundSideServices(container),
    privacy: privacyServices(container),
    projections: projectionsServices(container),
    audit: auditServices(container),
    quarantine: quarantineOf(container),
    upgrade: container.get(TOKENS.storedFormats),
    sandboxClock: container.get(TOKENS.sandboxClock),
    close: () => foundations.engines.close(),
  };
};

/** Production has receivers of its own, with secrets of their own. */
const forwarderTo = (url: string, { environment, webhooks }: Configuration): Forwarder => {
  if (environment === 'production')
    throw new NotAllowedError('events are forwarded by a sandbox only: in production register a webhook');
  const secret = new SystemRandom().secret();
  return new WebhookForwarder({ url, secret, timeoutMs: webhooks.timeout, now: () => Date.now() });
};

process.umask(PRIVATE_UMASK);
const output = new CommandOutput(process.stdout, [process.stderr]);
process.exitCode = await runProgram(process.argv.slice(2), {
  open,
  openMove: async (targets) => {
    const configuration = readConfiguration(process.env);
    return openMoveFor(configuration, targets, logToStandardError(configuration.logLevel));
  },
  version: packageJson.version,
  terminal: process.stdout.isTTY,
  colour: showsColours(process.stdout, process.env),
  write: (text) => output.write(text),
  writeError: (text) => void process.stderr.write(text),
  startProgress: progressOn(process.stderr),
  ask,
  examine: () => examine(process.env, ({ logLevel }) => logToStandardError(logLevel)),
  onKey,
  backups: () => backupServices(process.env),
  untilInterrupted: () => untilInterrupted(output),
});
