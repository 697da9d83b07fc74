import type { DeskEvent } from '../../domain/desk/line.ts';
import { entry, integer, optional, text } from './fields.ts';
import type { EntriesOf } from './fields.ts';

/** Events of the desk log: ids and codes, and nothing that would have to be sealed. */
export const deskEntries: EntriesOf<DeskEvent> = {
  DeskLineWritten: entry('DeskLineWritten', 'desk.line_written.v1', {
    at: text('at'),
    way: text('way'),
    issuer: optional(text('issuer')),
    subject: optional(text('subject')),
    name: text('name'),
    action: text('action'),
    outcome: text('outcome'),
    reason: optional(text('reason')),
    applicationId: optional(text('application_id')),
    fundId: optional(text('fund_id')),
    code: optional(text('originator_proposal_code')),
    documentId: optional(text('document_id')),
    decision: optional(text('decision')),
    decisionId: optional(text('decision_id')),
    count: optional(integer('count')),
    sum: optional(integer('sum')),
  }),
  DeskDayBegun: entry('DeskDayBegun', 'desk.day_begun.v1', {
    stream: text('stream'),
    day: text('day'),
    begunAt: text('begun_at'),
  }),
};
