import { forClient } from '../pipeline/operation.ts';
import type { Handler } from '../pipeline/operation.ts';
import { outcomeReply } from '../pipeline/reply.ts';
import { presentDocuments, presentPrepayment, presentRepurchase } from '../presenters/post-assignment.ts';
import {
  addDocumentsInput,
  checkFilesData,
  processPrepaymentInput,
  requestRepurchaseInput,
} from '../requests/post-assignment.ts';
import type { FilesDataBody, PrepaymentBody, RepurchaseBody } from '../requests/post-assignment.ts';
import type { UseCases } from '../use-cases.ts';

export const postAssignmentHandlers = ({
  processPrepayment,
  requestRepurchase,
  addDocuments,
}: UseCases): Readonly<Record<string, Handler>> => ({
  processPrepayment: {
    run: forClient(async (context, { body }) =>
      outcomeReply(
        200,
        await processPrepayment(context, processPrepaymentInput(body as PrepaymentBody)),
        presentPrepayment,
      ),
    ),
  },
  requestRepurchase: {
    run: forClient(async (context, { body }) =>
      outcomeReply(
        200,
        await requestRepurchase(context, requestRepurchaseInput(body as RepurchaseBody)),
        presentRepurchase,
      ),
    ),
  },
  addDocuments: {
    crossCheck: checkFilesData,
    fileNames: (body) => (body as FilesDataBody).documents.map(({ value }) => value),
    run: forClient(async (context, { body, files }) =>
      outcomeReply(
        201,
        await addDocuments(context, addDocumentsInput(body as FilesDataBody, files)),
        presentDocuments,
      ),
    ),
  },
});
