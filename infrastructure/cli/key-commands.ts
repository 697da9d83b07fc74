import type { Command } from 'commander';
import { answer } from './cli-services.ts';
import type { CliDependencies } from './cli-services.ts';

/** `keys rotate`. */
export const addKeyCommands = (program: Command, dependencies: CliDependencies): void => {
  const keys = program
    .command('keys')
    .description('keys that sign access tokens')
    .addHelpText('after', '\nExample:\n  receivables keys rotate');
  keys
    .command('rotate')
    .description('publish a new signing key, which takes over a minute later; living tokens stay good')
    .addHelpText('after', '\nPrints {kid, active_from}.\n\nExample:\n  receivables keys rotate')
    .action(() =>
      answer(dependencies, async ({ signingKeys }) => {
        const { kid, activeFrom } = await signingKeys.rotate();
        return { kid, active_from: new Date(activeFrom).toISOString() };
      }),
    );
};
