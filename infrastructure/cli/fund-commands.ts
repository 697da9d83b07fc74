import { FUND } from './cli-command.ts';
import type { CliCommand } from './cli-command.ts';
import type { ListedFund } from '../../application/funds/funds.ts';
import type { Column } from '../presenting/columns.ts';
import { addFourEyes } from './four-eyes-command.ts';
import { answer } from './command-line.ts';
import type { CliDependencies } from './command-line.ts';
import { configuring } from './desk-lines.ts';
import { userOfSystem } from './operator.ts';
import { listRows } from './report-output.ts';
import type { ReportOptions } from './report-output.ts';
import { FUND_OPTION, fundOf } from './scope.ts';

interface NameOptions {
  readonly fund: string;
  readonly operator?: string;
}

/** `fund list`, `fund name` and `fund four-eyes`. */
export const addFundCommands = (program: CliCommand, dependencies: CliDependencies): void => {
  const fund = program
    .command('fund')
    .description('funds, their names, and what needs two people there')
    .told('', 'fund list');
  addList(fund, dependencies);
  addName(fund, dependencies);
  addFourEyes(fund, dependencies);
};

const FUND_COLUMNS: readonly Column<ListedFund>[] = [
  { name: 'fund_id', of: ({ fundId }) => fundId },
  { name: 'name', of: ({ name }) => name },
];

const addList = (fund: CliCommand, dependencies: CliDependencies): void => {
  fund
    .command('list')
    .description('funds that an application is linked to, and those that have a name')
    .reporting()
    .told('', 'fund list', 'fund list -o csv')
    .action((options: ReportOptions) =>
      listRows(dependencies, options, FUND_COLUMNS, async ({ funds }) => funds.list()),
    );
};

const addName = (fund: CliCommand, dependencies: CliDependencies): void => {
  fund
    .command('name')
    .description('give a fund a name, or another one')
    .argument('<name>', '1 to 80 characters; no other fund has it, in upper or lower case')
    .requiredOption(FUND_OPTION, 'which one: its id, or the name that it has')
    .deciding()
    .told(
      'Pages, lists and exports show it beside the id, and --fund takes it. Named once more, it is renamed. Prints {fund_id, name}.\n' +
        'Exit code 3 when another fund has the name, or there is no such fund.',
      `fund name --fund ${FUND} "Fundo Aurora"`,
    )
    .action((text: string, options: NameOptions) =>
      answer(dependencies, async (services) => {
        const fundId = await fundOf(services, options.fund);
        const asked = { fundId, name: text.trim(), operator: options.operator ?? userOfSystem() };
        const line = { decision: 'name_fund', fundId, operator: asked.operator };
        await configuring(services, line, () => services.funds.name(asked));
        return { fund_id: fundId, name: asked.name };
      }),
    );
};
