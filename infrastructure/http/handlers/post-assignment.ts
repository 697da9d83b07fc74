import { forClient, ok, outcomeReply } from '../operation.ts';
import type { Handler } from '../operation.ts';
import { presentPrepaymentQuote, presentRepurchaseQuote } from '../presenters/quotes.ts';
import { presentDocuments, presentPrepayment, presentRepurchase } from '../presenters/post-assignment.ts';
import {
  addDocumentsInput,
  checkFilesData,
  processPrepaymentInput,
  requestRepurchaseInput,
} from '../requests/post-assignment.ts';
import type { FilesDataBody, PrepaymentBody, RepurchaseBody } from '../requests/post-assignment.ts';
import type { UseCases } from '../resources/use-cases.ts';

export const postAssignmentHandlers = (useCases: UseCases): Readonly<Record<string, Handler>> => ({
  processPrepayment: {
    run: forClient(async (context, { body }) => {
      const { dry_run: dryRun } = body as PrepaymentBody;
      const input = processPrepaymentInput(body as PrepaymentBody);
      if (dryRun) return ok(presentPrepaymentQuote(await useCases.quotePrepayment(context, input)));
      return outcomeReply(200, await useCases.processPrepayment(context, input), presentPrepayment);
    }),
  },
  requestRepurchase: {
    run: forClient(async (context, { body }) => {
      const { dry_run: dryRun } = body as RepurchaseBody;
      const input = requestRepurchaseInput(body as RepurchaseBody);
      if (dryRun) return ok(presentRepurchaseQuote(await useCases.quoteRepurchase(context, input)));
      return outcomeReply(200, await useCases.requestRepurchase(context, input), presentRepurchase);
    }),
  },
  addDocuments: {
    crossCheck: checkFilesData,
    fileNames: (body) => (body as FilesDataBody).documents.map(({ value }) => value),
    run: forClient(async (context, { body, files }) =>
      outcomeReply(
        201,
        await useCases.addDocuments(context, addDocumentsInput(body as FilesDataBody, files)),
        presentDocuments,
      ),
    ),
  },
});
