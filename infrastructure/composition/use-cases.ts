import type { Container } from 'inversify';
import type { UseCases } from '../http/resources/use-cases.ts';
import { TOKENS } from './tokens.ts';

/** The use cases as the HTTP interface calls them. */
export const useCasesOf = (container: Container): UseCases => {
  const assign = container.get(TOKENS.assignLoan);
  const settle = container.get(TOKENS.settleInstallment);
  const prepayment = container.get(TOKENS.processPrepayment);
  const repurchase = container.get(TOKENS.requestRepurchase);
  const quotes = container.get(TOKENS.quotes);
  const documents = container.get(TOKENS.addDocuments);
  const renegotiate = container.get(TOKENS.renegotiateLoans);
  const reading = container.get(TOKENS.loanReading);
  return {
    assignLoan: (context, input) => assign.execute(context, input),
    settleInstallment: (context, input) => settle.execute(context, input),
    processPrepayment: (context, input) => prepayment.execute(context, input),
    requestRepurchase: (context, input) => repurchase.execute(context, input),
    quoteSettlement: (context, input) => quotes.settlement(context, input),
    quotePrepayment: (context, input) => quotes.prepayment(context, input),
    quoteRepurchase: (context, input) => quotes.repurchase(context, input),
    addDocuments: (context, input) => documents.execute(context, input),
    renegotiateLoans: (context, input) => renegotiate.execute(context, input),
    quoteRenegotiation: (context, input) => renegotiate.quote(context, input),
    readLoan: (context, code) => reading.read(context, code),
    readDocument: (context, code, documentId) => reading.document(context, code, documentId),
    listLoans: (context, input) => reading.list(context, input),
    webhooks: container.get(TOKENS.webhookSide).management,
    sandboxClock: container.get(TOKENS.sandboxClock),
  };
};
