import type { Command } from 'commander';
import type { ListedFund } from '../../application/funds/funds.ts';
import type { Column } from '../presenting/columns.ts';
import { addFourEyes } from './four-eyes-command.ts';
import { answer } from './command-line.ts';
import type { CliDependencies } from './command-line.ts';
import { configuring } from './desk-lines.ts';
import { userOfSystem, withOperator } from './operator.ts';
import { listRows, withReportOptions } from './report-output.ts';
import type { ReportOptions } from './report-output.ts';
import { FUND_OPTION, fundOf } from './scope.ts';

const FUND = '3f0c1e52-8a44-4b8e-9d64-0b7f6f1c2a10';

interface NameOptions {
  readonly fund: string;
  readonly operator?: string;
}

/** `fund list`, `fund name` and `fund four-eyes`. */
export const addFundCommands = (program: Command, dependencies: CliDependencies): void => {
  const fund = program
    .command('fund')
    .description('funds, their names, and what needs two people there')
    .addHelpText('after', '\nExample:\n  receivables fund list');
  addList(fund, dependencies);
  addName(fund, dependencies);
  addFourEyes(fund, dependencies);
};

const FUND_COLUMNS: readonly Column<ListedFund>[] = [
  { name: 'fund_id', of: ({ fundId }) => fundId },
  { name: 'name', of: ({ name }) => name },
];

const addList = (fund: Command, dependencies: CliDependencies): void => {
  const list = fund
    .command('list')
    .description('funds that an application is linked to, and those that have a name');
  withReportOptions(list, dependencies)
    .addHelpText('after', '\nExamples:\n  receivables fund list\n  receivables fund list -o csv')
    .action((options: ReportOptions) =>
      listRows(dependencies, options, FUND_COLUMNS, async function* ({ funds }) {
        yield* await funds.list();
      }),
    );
};

const addName = (fund: Command, dependencies: CliDependencies): void => {
  const name = fund
    .command('name')
    .description('give a fund a name, or another one')
    .argument('<name>', '1 to 80 characters; no other fund has it, in upper or lower case')
    .requiredOption(FUND_OPTION, 'which one: its id, or the name that it has');
  withOperator(name)
    .addHelpText(
      'after',
      '\nPages, lists and exports show it beside the id, and --fund takes it. Named once more, it is renamed. Prints {fund_id, name}.\n' +
        'Exit code 3 when another fund has the name, or there is no such fund.\n\n' +
        `Example:\n  receivables fund name --fund ${FUND} "Fundo Aurora"`,
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
