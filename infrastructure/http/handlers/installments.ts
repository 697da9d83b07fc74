import { forClient } from '../pipeline/operation.ts';
import type { Handler } from '../pipeline/operation.ts';
import { outcomeReply } from '../pipeline/reply.ts';
import { presentSettlement } from '../presenters/settlement.ts';
import { settleInstallmentInput } from '../requests/settlement.ts';
import type { SettlementBody } from '../requests/settlement.ts';
import type { UseCases } from '../use-cases.ts';

export const installmentHandlers = ({ settleInstallment }: UseCases): Readonly<Record<string, Handler>> => ({
  settleInstallment: {
    run: forClient(async (context, { body }) =>
      outcomeReply(
        200,
        await settleInstallment(context, settleInstallmentInput(body as SettlementBody)),
        presentSettlement,
      ),
    ),
  },
});
