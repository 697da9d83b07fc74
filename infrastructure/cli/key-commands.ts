import type { CliCommand } from './cli-command.ts';
import { configuring } from './desk-lines.ts';

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
