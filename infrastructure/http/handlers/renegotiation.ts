import { mediaTypeOf } from '../bodies/body-headers.ts';
import { forClient, ok, outcomeReply } from '../operation.ts';
import type { Call, Handler } from '../operation.ts';
import { presentRenegotiationQuote } from '../presenters/quotes.ts';
import { presentRenegotiation } from '../presenters/renegotiation.ts';
import { checkRenegotiation, renegotiationDataInput, renegotiationInput } from '../requests/renegotiation.ts';
import type { RenegotiationBody, RenegotiationDataBody } from '../requests/renegotiation.ts';
import { askedOutcome } from '../requests/sandbox-outcome.ts';
import type { UseCases } from '../resources/use-cases.ts';

const inputOf = ({ req, body, files }: Call) =>
  mediaTypeOf(req) === 'multipart/form-data'
    ? renegotiationDataInput(body as RenegotiationDataBody, files)
    : renegotiationInput(body as RenegotiationBody);

export const renegotiationHandlers = (useCases: UseCases): Readonly<Record<string, Handler>> => ({
  renegotiateLoans: {
    crossCheck: checkRenegotiation,
    fileNames: (body) => (body as RenegotiationDataBody).new_loan.backing_documents.map(({ value }) => value),
    run: forClient(async (context, call) => {
      const { dry_run: dryRun } = call.body as RenegotiationBody | RenegotiationDataBody;
      const input = { ...inputOf(call), ...askedOutcome(call.headers) };
      if (dryRun) return ok(presentRenegotiationQuote(await useCases.quoteRenegotiation(context, input)));
      return outcomeReply(200, await useCases.renegotiateLoans(context, input), presentRenegotiation);
    }),
  },
});
