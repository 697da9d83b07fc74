import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import type { ListedClient } from '../../application/clients/list-clients.ts';
import { SCOPES, scopesOf } from '../../application/ports/scopes.ts';
import { NotAllowedError, answer } from './cli-services.ts';
import type { CliDependencies, CliServices } from './cli-services.ts';

interface CreateOptions {
  readonly name: string;
  readonly fund?: readonly string[];
  readonly onlyFund?: readonly string[];
  readonly scope?: readonly string[];
  readonly application?: string;
  readonly rateLimitMultiplier?: number;
}

/** `client create`, `client list`, `client revoke`. */
export const addClientCommands = (program: Command, dependencies: CliDependencies): void => {
  const client = program
    .command('client')
    .description('credentials of integrators')
    .addHelpText('after', '\nExample:\n  receivables client list');
  addCreate(client, dependencies);
  addList(client, dependencies);
  addRevoke(client, dependencies);
};

const addCreate = (client: Command, dependencies: CliDependencies): void => {
  client
    .command('create')
    .description('make a client and print its secret, which cannot be read again later')
    .requiredOption('--name <name>', 'who it is for, 1 to 100 characters')
    .option('--fund <uuid>', 'a fund to link to the application; repeat for more', collect)
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
    .option('--application <id>', 'application that it belongs to (default: a new one)')
    .option('--rate-limit-multiplier <n>', 'multiplies the rate limits of the application', positiveNumber)
    .addHelpText(
      'after',
      '\nPrints {client_id, client_secret, application_id, fund_ids}, with scopes and only_fund_ids where they were given. A new\n' +
        'application needs at least one --fund. Exit code 3 when an --only-fund is not linked to the application.\n\nExample:\n' +
        '  receivables client create --name "Acme Originator" --fund 3f0c1e52-8a44-4b8e-9d64-0b7f6f1c2a10\n' +
        '  receivables client create --name "Acme reports" --application acme --scope loans:read --only-fund 3f0c1e52-8a44-4b8e-9d64-0b7f6f1c2a10',
    )
    .action((options: CreateOptions, command: Command) => {
      if (!options.fund && options.application === undefined) {
        command.error("error: required option '--fund <uuid>' not specified: a new application needs one");
      }
      return answer(dependencies, ({ createClient }) => create(createClient, options));
    });
};

const create = async (
  createClient: CliServices['createClient'],
  { name, fund = [], onlyFund, scope, application, rateLimitMultiplier }: CreateOptions,
): Promise<object> => {
  const created = await createClient.execute({
    name,
    fundIds: fund,
    ...(onlyFund && { onlyFundIds: onlyFund }),
    ...(scope && { scopes: scope }),
    ...(application === undefined ? {} : { applicationId: application }),
    ...(rateLimitMultiplier === undefined ? {} : { rateLimitMultiplier }),
  });
  return {
    client_id: created.clientId,
    client_secret: created.clientSecret,
    application_id: created.applicationId,
    fund_ids: created.fundIds,
    ...(created.scopes && { scopes: created.scopes }),
    ...(created.onlyFundIds && { only_fund_ids: created.onlyFundIds }),
  };
};

const addList = (client: Command, dependencies: CliDependencies): void => {
  client
    .command('list')
    .description('all clients, revoked ones included, without their secrets')
    .addHelpText('after', '\nPrints {data: [client]}.\n\nExample:\n  receivables client list')
    .action(() =>
      answer(dependencies, async ({ listClients }) => ({ data: (await listClients.execute()).map(present) })),
    );
};

const addRevoke = (client: Command, dependencies: CliDependencies): void => {
  client
    .command('revoke')
    .description('end a client, its living tokens included, within ten seconds')
    .argument('<client_id>', 'as printed when it was created')
    .addHelpText(
      'after',
      '\nPrints {client_id, revoked_at}. Exit code 3 when there is no such client that is not revoked yet.\n\nExample:\n  receivables client revoke client_5nJ0kq0Xb1tQ2m8v7o3eSg',
    )
    .action((clientId: string) =>
      answer(dependencies, async ({ revokeClient }) => {
        const revoked = await revokeClient.execute(clientId);
        if (revoked === undefined) throw new NotAllowedError(`no client ${clientId} that is not revoked yet`);
        return { client_id: clientId, revoked_at: revoked.revokedAt };
      }),
    );
};

const collect = (value: string, previous: readonly string[] = []): readonly string[] => [...previous, value];

const positiveNumber = (text: string): number => {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : 0;
  if (value > 0) return value;
  throw new InvalidArgumentError('It must be a number above zero.');
};

const present = (client: ListedClient): object => ({
  client_id: client.clientId,
  application_id: client.applicationId,
  name: client.name,
  fund_ids: client.fundIds,
  only_fund_ids: client.onlyFundIds ?? null,
  scopes: scopesOf(client),
  rate_limit_multiplier: client.rateLimitMultiplier,
  created_at: client.createdAt,
  revoked_at: client.revokedAt,
});
