import { randomUUID } from 'node:crypto';
import { FUND } from './cli-command.ts';
import type { CliCommand } from './cli-command.ts';
import type { AwaitingDecision } from '../../application/administrator/confirmations.ts';
import type { App } from '../../application/app.ts';
import type { SecondDecisionName } from '../../application/publication/description/decision-schema.ts';
import { withFundNames } from '../presenting/fund-names.ts';
import { asColumns } from '../presenting/columns.ts';
import { cents } from '../../domain/shared/money.ts';
import { NotAllowedError } from './command-line.ts';
import { tellingRefusals, patiently, presentAnswer, submitting } from './desk-lines.ts';
import { userOfSystem, amountInCents, numberOption, FUND_OPTION, fundOf, scopeOf } from './options.ts';

const ID = '7b0a7c0e-3a58-4d6f-8f5e-0f6f4f1f6f11';
const MOST_COUNTED = 1_000_000;

const COLUMNS = asColumns<AwaitingDecision>([
  'first_decision_id',
  'application_id',
  { name: 'originator_proposal_code', of: (one) => one.code },
  'fund_id',
  'decision',
  { name: 'value', amount: true },
  'by',
  'since',
]);

interface ConfirmOptions {
  readonly operator?: string;
  readonly all?: boolean;
  readonly fund?: string;
  readonly count?: number;
  /** In cents. */
  readonly sum?: number;
}

export const addAwaitingCommands = (administrator: CliCommand): void => {
  administrator
    .command('awaiting')
    .description('decisions that a second person can confirm, the longest wait first')
    .option(FUND_OPTION, 'only of this fund')
    .told(
      'A rule of a fund that asks for less than before is listed as four_eyes, of no operation.',
      'administrator awaiting',
      'administrator awaiting -o csv',
    )
    .listing(
      async ({ funds }) => withFundNames(COLUMNS, await funds.names(), (one) => one.fundId),
      async function* (services, { fund }: { readonly fund?: string }) {
        const { fundId } = await scopeOf(services, { fund });
        await services.loans.catchUp();
        yield* await services.administrator.confirmations.awaiting(fundId);
      },
    );
  administrator
    .command('confirm')
    .description('let decisions take effect that somebody else made')
    .argument('[id...]', 'first_decision_id of each; left out with --all')
    .option('--all', 'whatever awaits confirmation on operations of --fund, if it is --count and --sum')
    .option(FUND_OPTION, 'with --all: of this fund')
    .option('--count <number>', 'with --all: how many there are', numberOption(MOST_COUNTED))
    .option('--sum <amount>', 'with --all: what their values come to, such as 1800.00', amountInCents)
    .deciding()
    .told(
      'Prints one answer a line: {decision_id, ..., first_decision_id, outcome: applied | already_applied | refused, status | reason}.\n' +
        'Exit code 3 when one was refused. With --all nothing is done where count or sum are not those of `administrator awaiting`.',
      `administrator confirm ${ID}`,
      `administrator confirm --all --fund ${FUND} --count 12 --sum 480000.00`,
    )
    .refusing(wrongUseOf)
    .answeringLines((services, ids: readonly string[], options: ConfirmOptions) =>
      settling(services, 'confirm', { ...options, ids: () => idsOf(services, ids, options) }),
    );
  administrator
    .command('withdraw')
    .description('take back decisions that await confirmation')
    .argument('<id...>', 'first_decision_id of each')
    .deciding()
    .told(
      'Prints one answer a line, as `administrator confirm` does. Exit code 3 when one was refused.',
      `administrator withdraw ${ID}`,
    )
    .answeringLines((services, ids: readonly string[], options: { readonly operator?: string }) =>
      settling(services, 'withdraw', { ...options, ids: () => Promise.resolve(ids) }),
    );
};

const wrongUseOf = (
  ids: readonly string[],
  { all, fund, count, sum }: ConfirmOptions,
): string | undefined => {
  if (all === true) {
    if (ids.length > 0) return 'name decisions or --all, not both';
    return fund === undefined || count === undefined || sum === undefined
      ? '--all needs --fund, --count and --sum'
      : undefined;
  }
  if (fund !== undefined || count !== undefined || sum !== undefined)
    return '--fund, --count and --sum go with --all';
  return ids.length === 0 ? 'name the decisions, or --all with --fund, --count and --sum' : undefined;
};

const idsOf = async (
  services: App,
  ids: readonly string[],
  { operator, all, fund, count, sum }: ConfirmOptions,
): Promise<readonly string[]> => {
  if (all !== true) return ids;
  const fundId = await fundOf(services, fund!);
  await services.loans.catchUp();
  const { confirmations } = services.administrator;
  const told = { operator, decision: 'confirm', fundId, count: count!, sum: cents(sum!) };
  const awaiting = await tellingRefusals(services, told, () =>
    patiently(() => confirmations.awaitingExactly(fundId, count!, sum!)),
  );
  return awaiting.map(({ firstDecisionId }) => firstDecisionId);
};

async function* settling(
  services: App,
  decision: SecondDecisionName,
  {
    operator = userOfSystem(),
    ids,
  }: { readonly operator?: string; readonly ids: () => Promise<readonly string[]> },
): AsyncGenerator<object> {
  const all = [...new Set(await ids())];
  let refused = 0;
  const asked = all.map((id) => ({ decision_id: randomUUID(), decision, first_decision_id: id }));
  for await (const given of submitting(services, operator, asked)) {
    if (given.outcome === 'refused') refused += 1;
    yield presentAnswer(given);
  }
  if (refused > 0) throw new NotAllowedError(`${refused} of ${all.length} were refused`);
}
