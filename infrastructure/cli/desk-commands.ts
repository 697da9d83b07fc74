import type { DeskLogLine, DeskQuery } from '../../application/desk/desk.ts';
import { asColumns } from '../presenting/columns.ts';
import type { CliCommand } from './cli-command.ts';
import { grantText } from '../../application/desk/people.ts';
import type { ListedSession } from '../../application/desk/sessions.ts';
import { withNamesBeside } from '../presenting/fund-names.ts';
import { NotAllowedError } from './command-line.ts';
import { configuring } from './desk-lines.ts';
import { instantOption, FUND_OPTION, scopeOf } from './options.ts';

const DESK_COLUMNS = asColumns<DeskLogLine>([
  'at',
  'way',
  { name: 'issuer', of: ({ issuer }) => issuer ?? null, table: false },
  { name: 'subject', of: ({ subject }) => subject ?? null },
  'name',
  'action',
  'outcome',
  { name: 'reason', of: ({ reason }) => reason ?? null },
  { name: 'application_id', of: ({ applicationId }) => applicationId ?? null, table: false },
  { name: 'originator_proposal_code', of: ({ code }) => code ?? null },
  { name: 'fund_id', of: ({ fundId }) => fundId ?? null },
  { name: 'document_id', of: ({ documentId }) => documentId ?? null, table: false },
  { name: 'decision', of: ({ decision }) => decision ?? null },
  { name: 'decision_id', of: ({ decisionId }) => decisionId ?? null, table: false },
  { name: 'count', of: ({ count }) => count ?? null, align: 'right' },
  { name: 'sum', of: ({ sum }) => sum ?? null, amount: true, align: 'right' },
  { name: 'stream', table: false },
]);

interface LogOptions extends Pick<DeskQuery, 'since' | 'subject' | 'code'> {
  readonly fund?: string;
}

export const addDeskCommands = (program: CliCommand): void => {
  const desk = program
    .command('desk')
    .description("the people at the fund's desk, and what they saw and did")
    .told('', 'desk log');
  desk
    .command('log')
    .description('what was seen, done and refused, the oldest first')
    .option('--since <time>', 'at this instant or later, such as 2026-06-30T18:00:00Z', instantOption)
    .option('--subject <subject>', 'only of this person, as the provider of the sign-in names it')
    .option(FUND_OPTION, 'only about this fund')
    .option('--code <code>', 'only about operations with this originator_proposal_code')
    .told(
      'A line has ids and codes alone: nothing of a borrower, nothing that was typed or searched for. Without sign-in it names the\n' +
        'operator, whom nothing proves.',
      'desk log --since 2026-06-30T18:00:00Z',
      'desk log --code OP-2026-000123 -o csv --output desk.csv',
    )
    .listing(
      async ({ funds }) => withNamesBeside(DESK_COLUMNS, await funds.names()),
      async function* (services, { since, subject, code, fund }: LogOptions) {
        if (code !== undefined) await services.loans.requireKnown(code);
        yield* services.desk.lines({
          ...{ since, subject, code },
          ...(await scopeOf(services, { fund })),
        });
      },
    );
  desk
    .command('sessions')
    .description('who is signed in at the console')
    .option('--end <id>', 'end this session instead: its next request has to sign in again')
    .told(
      'The id only names a session here; nobody comes in with it. `until`: when it ends unless it is used. --end prints {session_id, ended};\n' +
        'exit code 3 where no such session lives. Who may come in at all is for the provider to say.',
      'desk sessions',
      'desk sessions --end 6f9d2c0a-5b1e-4a77-9a3c-2f1d0e8b7c64',
    )
    .reporting()
    .action(({ end }: { readonly end?: string }, command: CliCommand) =>
      end === undefined
        ? command.list(SESSION_COLUMNS, async ({ desk: { sessions } }) => sessions.list())
        : command.answer(async (services) => {
            await configuring(services, { decision: 'end_session' }, async () => {
              if (!(await services.desk.sessions.end(end)))
                throw new NotAllowedError(`no session ${end} that has not ended`);
            });
            return { session_id: end, ended: true };
          }),
    );
};

const SESSION_COLUMNS = asColumns<ListedSession>([
  { name: 'session_id', of: ({ id }) => id },
  { name: 'name', of: ({ person }) => person.name },
  { name: 'issuer', of: ({ person }) => person.issuer, table: false },
  { name: 'subject', of: ({ person }) => person.subject },
  { name: 'roles', of: ({ person }) => person.grants.map(grantText) },
  'begun_at',
  { name: 'last_used_at', of: ({ lastAt }) => lastAt },
  'until',
]);
