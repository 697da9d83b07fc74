import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import type { ListedClient } from '../../application/clients/list-clients.ts';
import { CommandFailedError, answer } from './cli-services.ts';
import type { CliDependencies } from './cli-services.ts';

interface CreateOptions {
  readonly name: string;
  readonly fund: readonly string[];
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
    .requiredOption('--fund <uuid>', 'a fund to link to the application; repeat for more', collect)
    .option('--application <id>', 'application that it belongs to (default: a new one)')
    .option('--rate-limit-multiplier <n>', 'multiplies the rate limits of the application', positiveNumber)
    .addHelpText(
      'after',
      '\nPrints {client_id, client_secret, application_id, fund_ids}.\n\nExample:\n' +
        '  receivables client create --name "Acme Originator" --fund 3f0c1e52-8a44-4b8e-9d64-0b7f6f1c2a10',
    )
    .action(({ name, fund, application, rateLimitMultiplier }: CreateOptions) =>
      answer(dependencies, async ({ createClient }) => {
        const created = await createClient.execute({
          name,
          fundIds: fund,
          ...(application === undefined ? {} : { applicationId: application }),
          ...(rateLimitMultiplier === undefined ? {} : { rateLimitMultiplier }),
        });
        return {
          client_id: created.clientId,
          client_secret: created.clientSecret,
          application_id: created.applicationId,
          fund_ids: created.fundIds,
        };
      }),
    );
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
      '\nPrints {client_id, revoked_at}.\n\nExample:\n  receivables client revoke client_5nJ0kq0Xb1tQ2m8v7o3eSg',
    )
    .action((clientId: string) =>
      answer(dependencies, async ({ revokeClient }) => {
        const revoked = await revokeClient.execute(clientId);
        if (revoked === undefined)
          throw new CommandFailedError(`no client ${clientId} that is not revoked yet`);
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
  rate_limit_multiplier: client.rateLimitMultiplier,
  created_at: client.createdAt,
  revoked_at: client.revokedAt,
});
