import { randomUUID } from 'node:crypto';
import { InvalidArgumentError, Option } from 'commander';
import { FUND } from './cli-command.ts';
import type { CliCommand } from './cli-command.ts';
import type { ListedFund } from '../../application/funds/funds.ts';
import { asColumns, money } from '../presenting/columns.ts';
import { configuring, patiently } from './desk-lines.ts';
import { userOfSystem, amountInCents, FUND_OPTION, fundOf } from './options.ts';
import type { App } from '../../application/app.ts';
import { actorNamed } from '../../application/command-handling/actors.ts';
import { COVERABLE } from '../../domain/fund/four-eyes.ts';
import type { Covered, FourEyes } from '../../domain/fund/four-eyes.ts';
import { cents } from '../../domain/shared/money.ts';

interface NameOptions {
  readonly fund: string;
  readonly operator?: string;
}

interface FourEyesOptions extends NameOptions {
  readonly decision?: readonly Covered[];
  readonly evidence?: FourEyes['evidence'];
  readonly off?: boolean;
}

export const addFundCommands = (program: CliCommand): void => {
  const fund = program
    .command('fund')
    .description('funds, their names, and what needs two people there')
    .told('', 'fund list');
  fund
    .command('list')
    .description('funds that an application is linked to, and those that have a name')
    .told('', 'fund list', 'fund list -o csv')
    .listing(FUND_COLUMNS, async ({ funds }) => funds.list());
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
    .answering(async (services, text: string, options: NameOptions) => {
      const fundId = await fundOf(services, options.fund);
      const asked = { fundId, name: text.trim(), operator: options.operator ?? userOfSystem() };
      const line = { decision: 'name_fund', fundId, operator: asked.operator };
      await configuring(services, line, () => services.funds.name(asked));
      return { fund_id: fundId, name: asked.name };
    });
  fund
    .command('four-eyes')
    .description('which decisions of a fund need two people')
    .requiredOption(FUND_OPTION, 'of which fund: its id or its name')
    .option(
      '--decision <name:from...>',
      `a decision and the value per operation from which two people make it, such as disburse:50000.00; repeat for more (${COVERABLE.join(', ')})`,
      collectDecision,
    )
    .addOption(
      new Option(
        '--evidence <kind>',
        'signed-in: both are signed in at the console; stated: two names, which nothing proves (default: signed-in)',
      ).choices(['signed-in', 'stated']),
    )
    .option('--off', 'one person decides everything again')
    .deciding()
    .told(
      'Shows the rule where nothing else is given. The decisions named are all that need two people from then on. Asking for less than before\n' +
        'awaits a second person itself (outcome: awaiting_confirmation) and lets nothing through that awaits confirmation.\n' +
        'Prints {fund_id, version, decisions, evidence, outcome}.',
      `fund four-eyes --fund ${FUND} --decision disburse:50000.00 --decision reject:0`,
      `fund four-eyes --fund ${FUND} --off`,
    )
    .refusing(({ decision, evidence, off }: FourEyesOptions) => {
      if (off === true && (decision || evidence !== undefined))
        return '--off goes without --decision and --evidence';
      return evidence !== undefined && !decision ? '--evidence goes with --decision' : undefined;
    })
    .answering((services, options: FourEyesOptions) => {
      const decisionId = randomUUID();
      return patiently(async () => {
        await services.maintenance.sandboxClock?.show();
        return setOrShow(services, { ...options, decisionId });
      });
    });
};

const FUND_COLUMNS = asColumns<ListedFund>(['fund_id', 'name']);

const setOrShow = async (
  services: App,
  {
    fund,
    decision,
    evidence = 'signed-in',
    off,
    operator = userOfSystem(),
    decisionId,
  }: FourEyesOptions & { readonly decisionId: string },
): Promise<object> => {
  const fundId = await fundOf(services, fund);
  const { rules } = services.administrator;
  if (!decision && off !== true) {
    const shown = (await rules.current()).rules.get(fundId as never);
    return presentRule(fundId, shown);
  }
  const asked = { decisionId, actor: actorNamed(operator) };
  const given = await configuring(
    services,
    { decision: 'four_eyes', fundId, decisionId, operator, told: ({ outcome }) => ({ outcome }) },
    () => rules.set({ fundId, decisions: decision ?? [], evidence }, asked, { name: operator }),
  );
  return {
    ...presentRule(fundId, given.rule),
    outcome: given.outcome,
    ...(given.outcome === 'awaiting_confirmation' && { first_decision_id: decisionId }),
  };
};

const presentRule = (
  fundId: string,
  rule: (FourEyes & { readonly version: number }) | undefined,
): object => ({
  fund_id: fundId,
  version: rule?.version ?? 0,
  decisions: (rule?.decisions ?? []).map((one) => ({
    decision: one.decision,
    from: Number(money(one.from)),
  })),
  evidence: rule && rule.decisions.length > 0 ? rule.evidence : null,
});

const collectDecision = (text: string, previous: readonly Covered[] = []): readonly Covered[] => {
  const [name, from, ...more] = text.split(':');
  const decision = COVERABLE.find((one) => one === name);
  if (decision === undefined || from === undefined || more.length > 0)
    throw new InvalidArgumentError(
      `It must be one of ${COVERABLE.join(', ')} and a value, such as disburse:50000.00.`,
    );
  return [...previous, { decision, from: cents(amountInCents(from)) }];
};
