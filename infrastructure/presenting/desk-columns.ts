import type { DeskLogLine } from '../../application/desk/desk.ts';
import type { Column } from './columns.ts';

/** A line of the desk log as it is listed. */
export const DESK_COLUMNS: readonly Column<DeskLogLine>[] = [
  { name: 'at', of: ({ at }) => at },
  { name: 'way', of: ({ way }) => way },
  { name: 'issuer', of: ({ issuer }) => issuer ?? null, table: false },
  { name: 'subject', of: ({ subject }) => subject ?? null },
  { name: 'name', of: ({ name }) => name },
  { name: 'action', of: ({ action }) => action },
  { name: 'outcome', of: ({ outcome }) => outcome },
  { name: 'reason', of: ({ reason }) => reason ?? null },
  { name: 'application_id', of: ({ applicationId }) => applicationId ?? null, table: false },
  { name: 'originator_proposal_code', of: ({ code }) => code ?? null },
  { name: 'fund_id', of: ({ fundId }) => fundId ?? null },
  { name: 'document_id', of: ({ documentId }) => documentId ?? null, table: false },
  { name: 'decision', of: ({ decision }) => decision ?? null },
  { name: 'decision_id', of: ({ decisionId }) => decisionId ?? null, table: false },
  { name: 'count', of: ({ count }) => count ?? null, align: 'right' },
  { name: 'sum', of: ({ sum }) => sum ?? null, amount: true, align: 'right' },
  { name: 'stream', of: ({ stream }) => stream, table: false },
];
