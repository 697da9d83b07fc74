import type { CliCommand } from './cli-command.ts';
import type { ClockMove } from '../../application/maintenance/sandbox/sandbox-clock.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import type { App } from '../../application/app.ts';
import { NotAllowedError } from './command-line.ts';
import { configuring } from './desk-lines.ts';
import { instantOption, spanOption } from './options.ts';
import { showObject } from './shown-object.ts';

interface ClockOptions {
  /** Milliseconds. */
  readonly advance?: number;
  /** UTC, with milliseconds. */
  readonly to?: string;
}

export const addSandboxCommands = (program: CliCommand): void => {
  program
    .command('sandbox')
    .description('what only a sandbox has: in production every command of it is refused')
    .told('', 'sandbox clock --advance 30d')
    .command('clock')
    .description('show the time in which operations live, or move it forward for all applications')
    .option('--advance <duration>', 'by how much, such as 30d, 1h, 2m, 30s or 300ms', spanOption)
    .option('--to <time>', 'to which instant, such as 2026-03-01T12:00:00Z', instantOption)
    .reporting()
    .told(
      'Prints {now, offset_seconds}: the time, and how far it is ahead of the real one. It never goes back, and at most ten years\n' +
        'ahead: else exit code 3. Due dates, late days and times of events follow it; webhook retries, tokens and limits do not.',
      'sandbox clock --to 2026-03-01T12:00:00Z',
    )
    .refusing(({ advance, to }: ClockOptions) =>
      advance !== undefined && to !== undefined ? 'give --advance or --to, not both' : undefined,
    )
    .serving(async (services, { advance, to }: ClockOptions, command: CliCommand) => {
      const move: ClockMove | undefined =
        advance !== undefined ? { advanceMs: advance } : to === undefined ? undefined : { to };
      const moving = () => clock(services, move);
      const shown = move ? await configuring(services, { decision: 'move_clock' }, moving) : await moving();
      await showObject(command, shown);
    });
};

const clock = async ({ maintenance }: App, move: ClockMove | undefined): Promise<object> => {
  const { sandboxClock } = maintenance;
  if (!sandboxClock) throw new NotAllowedError('production has no clock that can be moved');
  try {
    const { now, offsetMs } = await (move ? sandboxClock.move(move) : sandboxClock.show());
    return { now, offset_seconds: offsetMs / 1_000 };
  } catch (error) {
    throw error instanceof DomainError ? new NotAllowedError(error.message, { cause: error }) : error;
  }
};
