import { forClient, ok, outcomeReply } from '../operation.ts';
import type { Handler } from '../operation.ts';
import { presentSettlementQuote } from '../presenters/quotes.ts';
import { presentSettlement } from '../presenters/settlement.ts';
import { settleInstallmentInput } from '../requests/settlement.ts';
import type { SettlementBody } from '../requests/settlement.ts';
import type { UseCases } from '../use-cases.ts';

export const installmentHandlers = (useCases: UseCases): Readonly<Record<string, Handler>> => ({
  settleInstallment: {
    run: forClient(async (context, { body }) => {
      const { dry_run: dryRun } = body as SettlementBody;
      const input = settleInstallmentInput(body as SettlementBody);
      if (dryRun) return ok(presentSettlementQuote(await useCases.quoteSettlement(context, input)));
      return outcomeReply(200, await useCases.settleInstallment(context, input), presentSettlement);
    }),
  },
});
