import type { Command } from 'commander';
import { grantText } from '../../application/desk/people.ts';
import type { ListedSession } from '../../application/desk/sessions.ts';
import type { Column } from '../presenting/columns.ts';
import { NotAllowedError, answer } from './command-line.ts';
import type { CliDependencies } from './command-line.ts';
import { listRows, withReportOptions } from './report-output.ts';
import type { ReportOptions } from './report-output.ts';

interface SessionsOptions extends ReportOptions {
  readonly end?: string;
}

/** `desk sessions`. */
export const addDeskCommands = (program: Command, dependencies: CliDependencies): void => {
  const desk = program
    .command('desk')
    .description("the people at the fund's desk")
    .addHelpText('after', '\nExample:\n  receivables desk sessions');
  addSessions(desk, dependencies);
};

const SESSION_COLUMNS: readonly Column<ListedSession>[] = [
  { name: 'session_id', of: ({ id }) => id },
  { name: 'name', of: ({ person }) => person.name },
  { name: 'issuer', of: ({ person }) => person.issuer, table: false },
  { name: 'subject', of: ({ person }) => person.subject },
  { name: 'roles', of: ({ person }) => person.grants.map(grantText) },
  { name: 'begun_at', of: ({ begunAt }) => begunAt },
  { name: 'last_used_at', of: ({ lastAt }) => lastAt },
  { name: 'until', of: ({ until }) => until },
];

const addSessions = (desk: Command, dependencies: CliDependencies): void => {
  const sessions = desk
    .command('sessions')
    .description('who is signed in at the console')
    .option('--end <id>', 'end this session instead: its next request has to sign in again');
  withReportOptions(sessions, dependencies)
    .addHelpText(
      'after',
      '\nThe id only names a session here; nobody comes in with it. `until`: when it ends unless it is used. --end prints {session_id, ended};\n' +
        'exit code 3 where no such session lives. Who may come in at all is for the provider to say.\n\n' +
        'Examples:\n  receivables desk sessions\n  receivables desk sessions --end 6f9d2c0a-5b1e-4a77-9a3c-2f1d0e8b7c64',
    )
    .action(({ end, ...options }: SessionsOptions) =>
      end === undefined
        ? listRows(dependencies, options, SESSION_COLUMNS, async function* (services) {
            yield* await services.desk.sessions.list();
          })
        : answer(dependencies, async (services) => {
            if (!(await services.desk.sessions.end(end)))
              throw new NotAllowedError(`no session ${end} that has not ended`);
            return { session_id: end, ended: true };
          }),
    );
};
