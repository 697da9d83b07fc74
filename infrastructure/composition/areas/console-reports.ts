import type { Container } from 'inversify';
import { anchorLines } from '../../../application/audit/anchor.ts';
import { ListClients } from '../../../application/clients/manage-clients.ts';
import { printShown } from '../../cli/audit-show.ts';
import type { Rows } from '../../cli/columns.ts';
import { printReconciliation } from '../../cli/reconcile-report.ts';
import { KeptStatements } from '../../console/kept-statements.ts';
import type { ReportServices } from '../../console/report-services.ts';
import { Verification } from '../../console/verification.ts';
import { SqlOperationStates } from '../../sql/read-models/operation-states.ts';
import { CsvStatements } from '../../statements/csv-statements.ts';
import { previewOf } from '../../statements/statement-preview.ts';
import { oneAtATime } from '../../support/one-at-a-time.ts';
import { TOKENS } from '../container.ts';
import { auditServices } from './audit.ts';
import { fundSideServices } from './fund-side.ts';
import { readModelArea } from './read-models.ts';
import { webhookPages } from './webhooks.ts';

async function* piecesOf(pieces: Rows<string>): AsyncGenerator<string> {
  yield* pieces;
}

/** What the pages of the console call that report. */
export const reportServices = (container: Container): ReportServices => {
  const foundations = container.get(TOKENS.foundations);
  const adapters = container.get(TOKENS.adapters);
  const { engines } = foundations;
  // Projectors of their own: each use starts and stops them.
  const fundSide = fundSideServices(foundations, readModelArea(foundations, adapters));
  const audit = auditServices(
    foundations,
    adapters,
    readModelArea(foundations, adapters),
    container.get(TOKENS.seals),
  );
  const caughtUp = oneAtATime(() => fundSide.catchUp('reconciliation'));
  const clients = new ListClients(adapters.clientRegistry);
  const states = new SqlOperationStates(engines.readModelDatabase);
  const statements = new CsvStatements();
  return {
    reconciliation: {
      kept: new KeptStatements(),
      preview: previewOf,
      knowsFund: async (fundId) =>
        (await clients.execute()).some(({ fundIds }) => fundIds.includes(fundId)) || states.holds(fundId),
      compare: async (statement, format, request) => {
        await caughtUp();
        return fundSide.reconciliation.execute({
          ...request,
          statement: statements.readKept(statement, format),
        });
      },
      written: (result, format) =>
        piecesOf(printReconciliation(result, { format, withMatched: true, colour: false })),
    },
    audit: {
      verification: new Verification(audit),
      sealed: async function* () {
        const takenAt = audit.now();
        yield* anchorLines({ takenAt, seal: await audit.sealNow(), heads: [] }, audit.signer);
      },
      explained: async (request, format) => {
        const asked = {
          ...request,
          applicationId: request.applicationId ?? (await audit.applicationOf(request.code)),
        };
        const shown = await audit.operations.execute(asked);
        let text = '';
        for await (const piece of piecesOf(printShown(shown, asked, { format, colour: false })))
          text += piece;
        return text;
      },
    },
    webhooks: webhookPages(foundations, adapters),
    clients: () => clients.execute(),
  };
};
