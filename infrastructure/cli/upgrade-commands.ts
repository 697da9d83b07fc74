import type { CliCommand } from './cli-command.ts';
import { configuring } from './desk-lines.ts';

export const addUpgradeCommands = (program: CliCommand): void => {
  program
    .command('upgrade')
    .description('the change of processes that share their engines to this release')
    .told('', 'upgrade finish')
    .command('finish')
    .description('from now on store what only this release reads: no process of an earlier one runs any more')
    .told(
      'Until then file names and remarks are stored plainly, disbursements keep the price of an exit of before, an approved\n' +
        'operation cannot be rejected, no client can be limited, no fund named, the master key cannot be rotated and nothing stands in the\n' +
        'desk log. Processes follow within five seconds. It cannot be taken back. A service with an embedded engine does it by itself. Prints {finished}.',
      'upgrade finish',
    )
    .answering(async (services) => {
      await configuring(services, { decision: 'finish_upgrade' }, () => services.maintenance.finishUpgrade());
      return { finished: true };
    });
};
