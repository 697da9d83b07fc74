import type { App } from '../app.ts';
import type { ShownEvent } from '../audit/show-operation.ts';
import type { Rights } from '../desk/rights.ts';
import type { LoanDetails } from '../loans/loan-details.ts';
import type { OperationSearch } from '../loans/search-operations.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import { MASKED, masked, narrowedTo, seesOperation } from './desk.ts';
import type { Desk } from './desk.ts';

const maskedDetails = (details: LoanDetails): LoanDetails => ({
  ...details,
  borrower: details.borrower && { documentType: MASKED, documentNumber: MASKED, name: MASKED },
  documents: [],
  ...(details.repurchase && {
    repurchase: { ...details.repurchase, reasonDetail: masked(details.repurchase.reasonDetail) },
  }),
});

interface Telling {
  readonly reason_detail?: string | null;
  readonly documents?: readonly { readonly value: string | null }[];
  readonly decision?: { readonly note?: string };
}

const maskedEvent = (shown: ShownEvent): ShownEvent => {
  const { reason_detail: detail, documents, decision } = shown.payload as Telling;
  const { event } = shown;
  return {
    ...shown,
    event:
      'decision' in event && event.decision?.note !== undefined
        ? { ...event, decision: { ...event.decision, note: MASKED } }
        : event,
    payload: {
      ...shown.payload,
      ...(detail !== undefined && { reason_detail: masked(detail) }),
      ...(documents && { documents: documents.map((one) => ({ ...one, value: masked(one.value) })) }),
      ...(decision && { decision: { ...decision, ...(decision.note && { note: MASKED }) } }),
    },
  };
};

/** Who may not know borrowers must not find out, by searching, whose operation it is. */
const narrowed = <Search extends OperationSearch>(rights: Rights, filter: Search): Search => ({
  ...filter,
  ...narrowedTo(rights, filter.document === undefined ? 'see' : 'borrowers'),
});

export const loansFor = ({ loans }: Pick<App, 'loans'>, rights: Rights): Desk['loans'] => ({
  async read(reader, code) {
    const details = await loans.read({ ...reader, ...narrowedTo(rights, 'see') }, code);
    return details && !rights.has('borrowers', details.loan.fund_id) ? maskedDetails(details) : details;
  },
  async document(reader, code, documentId) {
    const known = narrowedTo(rights, 'borrowers');
    const fundId = await loans.fundOf(reader.applicationId, code);
    if (fundId !== undefined && rights.has('see', fundId)) rights.require('borrowers', fundId);
    return loans.document({ ...reader, ...known }, code, documentId);
  },
  async applicationOf(code) {
    rights.within('service');
    return loans.applicationOf(code);
  },
  catchUp: () => loans.catchUp(),
  leftOut: async () => (await loans.leftOut()).filter(({ fundId }) => seesOperation(rights, fundId)),
  facts: {
    async of(operations) {
      const found = await loans.facts.of(operations);
      return found
        .filter(({ fundId }) => rights.has('see', fundId))
        .map((one) =>
          rights.has('borrowers', one.fundId)
            ? one
            : { ...one, borrower: one.borrower && { name: MASKED, document: MASKED } },
        );
    },
    /** That two operations have one borrower says whose they are, so each has to be of a fund whose borrowers the person may know. */
    exposure: (operation) =>
      loans.facts.exposure(operation, (fundId) => {
        if (!rights.has('see', fundId)) return undefined;
        return rights.has('borrowers', fundId) ? narrowedTo(rights, 'borrowers') : { withBorrower: false };
      }),
    reasons: (fundIds) => loans.facts.reasons(fundIds.filter((fundId) => rights.has('see', fundId))),
  },
  search: {
    async page(filter) {
      const page = await loans.search.page(narrowed(rights, filter));
      const operations = page.operations.map((one) =>
        rights.has('borrowers', one.fund_id) ? one : { ...one, document: masked(one.document) },
      );
      return { ...page, operations };
    },
    every: (filter, signal) => loans.search.every(narrowed(rights, filter), signal),
  },
});

export const auditFor = ({ audit, loans }: Pick<App, 'audit' | 'loans'>, rights: Rights): Desk['audit'] => ({
  async show(request) {
    const { applicationId, code } = request;
    const fundId = await loans.fundOf(applicationId, code);
    if (!seesOperation(rights, fundId))
      throw new DomainError('loan_not_found', `application ${applicationId} has no operation ${code}`);
    const shown = await audit.show(request);
    return rights.has('borrowers', fundId) ? shown : { ...shown, events: shown.events.map(maskedEvent) };
  },
  async anchor() {
    rights.within('seal');
    return audit.anchor();
  },
  get background() {
    rights.within('verify');
    return audit.background;
  },
});
