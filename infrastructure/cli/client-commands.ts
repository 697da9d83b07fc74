import { InvalidArgumentError } from 'commander';
import type { App } from '../../application/app.ts';
import type { ListedClient } from '../../application/clients/client-registry.ts';
import { SCOPES, scopesOf } from '../../application/clients/scopes.ts';
import { isFundId } from '../../domain/fund/names.ts';
import { asColumns, jsonOf } from '../presenting/columns.ts';
import { withNamesBeside } from '../presenting/fund-names.ts';
import { FUND } from './cli-command.ts';
import type { CliCommand } from './cli-command.ts';
import { NotAllowedError, WrongUseError } from './command-line.ts';
import { configuring } from './desk-lines.ts';
import { collect, collectFunds, FUND_OPTION, applicationOf } from './options.ts';

interface CreateOptions {
  readonly name: string;
  readonly fund?: readonly string[];
  readonly onlyFund?: readonly string[];
  readonly scope?: readonly string[];
  readonly application?: string;
  readonly rateLimitMultiplier?: number;
}

interface UpdateOptions {
  readonly name?: string;
  readonly rateLimitMultiplier?: number;
  readonly addFund?: readonly string[];
  readonly removeFund?: readonly string[];
}

const MULTIPLIER =
  'multiplies the rate limits of the application, which its clients share: the largest of theirs counts';

export const addClientCommands = (program: CliCommand): void => {
  const client = program.command('client').description('credentials of integrators').told('', 'client list');
  client
    .command('create')
    .description('make a client and print its secret, which cannot be read again later')
    .requiredOption('--name <name>', 'who it is for, 1 to 100 characters')
    .option(FUND_OPTION, 'a fund to link to the application; repeat for more', collect)
    .option(
      '--only-fund <uuid>',
      'the client sees operations and events of this fund alone, and manages no webhooks; repeat for more',
      collect,
    )
    .option(
      '--scope <scope>',
      `what its tokens allow, of ${SCOPES.join(', ')}; repeat for more (default: all that it can have)`,
      collect,
    )
    .option(
      '--application <id|name>',
      'application that it belongs to: an id, the name of one of its clients, or the id for a new one (default: a new one)',
    )
    .option('--rate-limit-multiplier <n>', MULTIPLIER, positiveNumber)
    .told(
      'Prints {client_id, client_secret, application_id, fund_ids}, with scopes and only_fund_ids where they were given. A new\n' +
        'application needs at least one --fund. Exit code 3 when an --only-fund is not linked to the application.\n' +
        'A client whose secret nobody kept is of no use: client list has it, the newest at the end, and client revoke ends it.',
      `client create --name "Acme Originator" --fund ${FUND}`,
      `client create --name "Acme reports" --application acme --scope loans:read --only-fund ${FUND}`,
    )
    .refusing(({ fund, application }: CreateOptions) =>
      !fund && application === undefined
        ? `required option '${FUND_OPTION}' not specified: a new application needs one`
        : undefined,
    )
    .answering(create);
  client
    .command('list')
    .description('all clients, revoked ones included, without their secrets')
    .told('', 'client list', 'client list -o csv')
    .listing(columnsOf, async ({ clients }) => clients.list());
  client
    .command('update')
    .description('change the name of a client, or the rate limits or the funds of its application')
    .argument('<client_id>', 'as printed by client list')
    .option('--name <name>', 'who it is for, 1 to 100 characters')
    .option('--rate-limit-multiplier <n>', MULTIPLIER, positiveNumber)
    .option('--add-fund <uuid>', 'link a fund to the application; repeat for more', collectFunds)
    .option('--remove-fund <uuid>', 'unlink a fund from the application; repeat for more', collectFunds)
    .told(
      'Every process knows it within five seconds. What was assigned to a fund stays when it is unlinked; nothing new can be.\n' +
        'An application keeps at least one fund, and those that a client of it is limited to. Prints the client as client list does.',
      `client update client_5nJ0kq0Xb1tQ2m8v7o3eSg --add-fund ${FUND}`,
    )
    .refusing((_clientId: string, options: UpdateOptions) =>
      Object.keys(options).length === 0
        ? 'nothing to change: give --name, --rate-limit-multiplier, --add-fund or --remove-fund'
        : undefined,
    )
    .answering(update);
  client
    .command('revoke')
    .description('end a client, its living tokens included: every process refuses them within five seconds')
    .argument('<client_id>', 'as printed when it was created')
    .told(
      'Prints {client_id, revoked_at}. Exit code 3 when there is no such client that is not revoked yet.',
      'client revoke client_5nJ0kq0Xb1tQ2m8v7o3eSg',
    )
    .answering((services, clientId: string) =>
      configuring(services, { decision: 'revoke_client' }, async () => {
        const revoked = await services.clients.revoke(clientId);
        if (revoked) return { client_id: clientId, revoked_at: revoked.revokedAt };
        throw new NotAllowedError(`no client ${clientId} that is not revoked yet`);
      }),
    );
};

const create = async (
  services: Pick<App, 'clients' | 'desk' | 'funds'>,
  { name, fund = [], onlyFund, scope, application, rateLimitMultiplier }: CreateOptions,
): Promise<object> => {
  const applicationId =
    application === undefined ? undefined : await applicationOrNew(services, application, fund);
  const input = {
    name,
    fundIds: await Promise.all(fund.map((one) => fundNamed(services, one))),
    ...(onlyFund && { onlyFundIds: onlyFund }),
    ...(scope && { scopes: scope }),
    ...(applicationId !== undefined && { applicationId }),
    ...(rateLimitMultiplier === undefined ? {} : { rateLimitMultiplier }),
  };
  const created = await configuring(services, { decision: 'create_client', told: ofApplication }, () =>
    services.clients.create(input),
  );
  return {
    client_id: created.clientId,
    client_secret: created.clientSecret,
    application_id: created.applicationId,
    fund_ids: created.fundIds,
    ...(created.scopes && { scopes: created.scopes }),
    ...(created.onlyFundIds && { only_fund_ids: created.onlyFundIds }),
  };
};

const ofApplication = ({ applicationId }: { readonly applicationId: string }) => ({ applicationId });

/** An id may be that of a fund that nobody knows yet. */
const fundNamed = async ({ funds }: Pick<App, 'funds'>, idOrName: string): Promise<string> => {
  const id = isFundId(idOrName.toLowerCase()) ? idOrName : await funds.find(idOrName);
  if (id !== undefined) return id;
  throw new WrongUseError(
    `no fund has the name ${JSON.stringify(idOrName)}: give one that fund list prints, or an id, which is a UUID`,
  );
};

/** With a fund, an id that is not known yet names a new application. */
const applicationOrNew = async (
  services: Pick<App, 'clients'>,
  idOrName: string,
  funds: readonly string[],
): Promise<string> => {
  try {
    return await applicationOf(services, idOrName);
  } catch (error) {
    if (error instanceof NotAllowedError && funds.length > 0) return idOrName;
    throw error;
  }
};

const CLIENT_COLUMNS = asColumns<ListedClient>([
  'client_id',
  'application_id',
  'name',
  'fund_ids',
  { name: 'only_fund_ids', of: (client) => client.onlyFundIds ?? null, table: false },
  { name: 'scopes', of: (client) => scopesOf(client), table: false },
  'rate_limit_multiplier',
  { name: 'created_at', table: false },
  'revoked_at',
]);

const columnsOf = async ({ funds }: Pick<App, 'funds'>) =>
  withNamesBeside(CLIENT_COLUMNS, await funds.names());

const update = async (
  services: App,
  clientId: string,
  { name, rateLimitMultiplier, addFund = [], removeFund = [] }: UpdateOptions,
): Promise<object> => {
  const changes = {
    ...(name !== undefined && { name }),
    ...(rateLimitMultiplier !== undefined && { rateLimitMultiplier }),
    addFundIds: addFund,
    removeFundIds: removeFund,
  };
  const updated = await configuring(
    services,
    { decision: 'update_client', told: ofApplication },
    async () => {
      const found = await services.clients.update(clientId, changes);
      if (found) return found;
      throw new NotAllowedError(`no client ${clientId} that is not revoked`);
    },
  );
  return JSON.parse(jsonOf(await columnsOf(services), updated)) as object;
};

const positiveNumber = (text: string): number => {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : 0;
  if (value > 0) return value;
  throw new InvalidArgumentError('It must be a number above zero.');
};

export const addKeyCommands = (program: CliCommand): void => {
  const keys = program
    .command('keys')
    .alias('key')
    .description('keys that sign access tokens, and the master key that wraps every other')
    .told('', 'keys rotate', 'keys revoke kQ3x9...', 'keys rotate-master');
  keys
    .command('rotate')
    .description('publish a new signing key, which takes over a minute later; living tokens stay good')
    .told('Prints {kid, active_from}.', 'keys rotate')
    .answering(async (services) => {
      const { kid, activeFrom } = await configuring(services, { decision: 'rotate_key' }, () =>
        services.clients.signingKeys.rotate(),
      );
      return { kid, active_from: new Date(activeFrom).toISOString() };
    });
  keys
    .command('revoke')
    .argument('<kid>', 'id of the signing key, as the published key set names it')
    .description('end a stolen signing key: every process refuses its tokens within five seconds')
    .told(
      'A new key signs at once; clients fetch a new token. Prints {kid, successor}. An unknown id ends with 3.\n' +
        'One that begins with - goes behind --: keys revoke -- -aIa7...',
      'keys revoke kQ3x9...',
    )
    .answering((services, kid: string) =>
      configuring(services, { decision: 'revoke_key' }, () => services.clients.signingKeys.revoke(kid)),
    );
  keys
    .command('rotate-master')
    .description('wrap every stored key and secret with a new master key, while the service runs')
    .told(
      'MASTER_KEY is the new key and MASTER_KEY_PREVIOUS the old one, in every process. In a sandbox that keeps its key in\n' +
        'DATA_DIR, a new one is made there. Run it again after an interruption. Prints {from, to, rewrapped, already}.',
      'keys rotate-master',
    )
    .answering((services) =>
      configuring(services, { decision: 'rotate_master_key' }, () => services.maintenance.rotateMasterKey()),
    );
};
