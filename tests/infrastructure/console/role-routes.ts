import type { Right } from '../../../application/desk/rights.ts';
import type { ConsoleAnswer } from '../../support/console-server.ts';
import type { DeskWorld } from './desk-world.ts';

/** What a person asks for: things of one fund. */
export interface Target {
  readonly applicationId: string;
  readonly fundId: string;
  /** Of an operation that the fund holds, and of one that waits. */
  readonly held: string;
  readonly waits: string;
  readonly documentId: string;
  readonly webhookId: string;
  readonly eventId: string;
}

interface Row {
  readonly ask: (desk: DeskWorld, at: Target) => Promise<ConsoleAnswer>;
  /** Default: to see anything. */
  readonly needs?: Right;
  /** Default: 200. */
  readonly status?: number;
  /** Where the target is of a fund that the person may not see; default: 404. */
  readonly unseen?: number;
}

const page = (pathOf: (at: Target) => string, more: Omit<Row, 'ask'> = {}): Row => ({
  ask: (desk, at) => desk.get(pathOf(at)),
  ...more,
});

/** Whoever asks gets it, with what they may see. */
const list = (path: string, more: Omit<Row, 'ask'> = {}): Row => page(() => path, { unseen: 200, ...more });

const operation = ({ applicationId, held }: Target): string => `/operations/${applicationId}/${held}`;
const webhook = ({ webhookId }: Target): string => `/webhooks/${webhookId}`;
const delivery = (at: Target): string => `${webhook(at)}/events/${at.eventId}`;

const MAKER = { needs: 'reconcile' } as const;
const AUDITOR = { needs: 'verify' } as const;

/** The number of a statement that a page shows; one that is none where it was refused. */
const statementIn = ({ text }: ConsoleAnswer): string =>
  /name="statement" value="([\w.-]+)"/.exec(text)?.[1] ?? 'none';

const uploaded = async (desk: DeskWorld): Promise<string> =>
  statementIn(
    await desk.upload('/reconciliation/statement', [], {
      name: 'statement.csv',
      text: 'date;amount;reference\n18/06/2026;10,00;nothing\n',
    }),
  );

const COLUMNS = [
  ...([
    ['date_column', '1'],
    ['amount_column', '2'],
    ['reference_column', '3'],
    ['header', 'on'],
  ] as const),
  ...([
    ['decimal', ','],
    ['delimiter', ';'],
    ['date_format', 'DD/MM/YYYY'],
    ['encoding', 'utf8'],
  ] as const),
  ...([
    ['skip', '0'],
    ['from', '2026-06-01'],
    ['to', '2026-06-20'],
    ['window', '3'],
    ['tolerance', '0'],
  ] as const),
] as const;

const compared = async (desk: DeskWorld, { fundId }: Target): Promise<ConsoleAnswer> => {
  const id = await uploaded(desk);
  const fields = [['statement', id] as const, ['fund', fundId] as const, ...COLUMNS];
  return desk.post('/reconciliation/compare', fields);
};

const explained = ({ applicationId, held }: Target) => [
  ['code', held] as const,
  ['application', applicationId] as const,
];

/** Until no verification is under way, so that the next one can begin. */
const verified = async (desk: DeskWorld, { fundId }: Target): Promise<ConsoleAnswer> => {
  const answer = await desk.upload('/audit/verify', [['fund', fundId]], { name: 'none', text: '' });
  for (let shown = answer; shown.text.includes('<progress');) shown = await desk.get('/audit/verification');
  return answer;
};

/** A request to every route of the console, by the kind and the path of the route. */
export const ROWS: Readonly<Record<string, Row>> = {
  'view /': list('/'),
  'view /today/waiting': list('/today/waiting'),
  'view /today/money': list('/today/money'),
  'view /today/endpoints': list('/today/endpoints'),
  'view /today/overdue': list('/today/overdue'),
  'view /today/awaiting': list('/today/awaiting'),
  'view /today/service': list('/today/service', { needs: 'service' }),
  'view /decisions': page(({ fundId }) => `/decisions?fund=${fundId}`, { unseen: 200 }),
  'view /decisions/waiting': list('/decisions/waiting'),
  'view /decisions/listed': list('/decisions/listed'),
  'view /decisions/next': list('/decisions/next', { status: 303, unseen: 303 }),
  'query /decisions/preview': {
    needs: 'decide',
    unseen: 200,
    ask: (desk, { applicationId, waits }) =>
      desk.post('/decisions/preview', [
        ['decision', 'approve'],
        ['operation', `${applicationId}/${waits}`],
      ]),
  },
  'action /decisions/decide': {
    needs: 'decide',
    unseen: 200,
    // On a state that it is not in: nothing is decided.
    ask: (desk, { applicationId, waits }) =>
      desk.post('/decisions/decide', [
        ['decision', 'approve'],
        ['operation', `${applicationId}/${waits}`],
        ['status', 'term_signed'],
      ]),
  },
  'view /decisions/:application/:code': page(
    ({ applicationId, waits }) => `/decisions/${applicationId}/${waits}`,
  ),
  'view /decisions/:application/:code/exposure': page(
    ({ applicationId, waits }) => `/decisions/${applicationId}/${waits}/exposure`,
  ),
  'view /documents/:application/:code/:document': page(
    ({ applicationId, held, documentId }) => `/documents/${applicationId}/${held}/${documentId}`,
    { needs: 'borrowers' },
  ),
  'view /operations': list('/operations'),
  'query /operations/search': {
    unseen: 200,
    ask: (desk, { held, fundId }) =>
      desk.post('/operations/search', [
        ['code', held],
        ['fund', fundId],
      ]),
  },
  'view /operations/export': list('/operations/export'),
  'view /operations/:application/:code': page(operation),
  'view /operations/:application/:code/events/:revision': page((at) => `${operation(at)}/events/0`),
  'view /portfolio': page(({ fundId }) => `/portfolio?fund=${fundId}`, { unseen: 200 }),
  'view /portfolio/position': page(({ fundId }) => `/portfolio/position?fund=${fundId}`),
  'view /portfolio/operations': page(({ fundId }) => `/portfolio/operations?fund=${fundId}&by=late&value=0`),
  'view /portfolio/export': page(({ fundId }) => `/portfolio/export?fund=${fundId}`),
  'view /portfolio/composition': page(({ fundId }) => `/portfolio/composition?fund=${fundId}`),
  'view /webhooks': list('/webhooks'),
  'view /webhooks/list': list('/webhooks/list'),
  'view /webhooks/:webhook': page(webhook),
  'view /webhooks/:webhook/live': page((at) => `${webhook(at)}/live`),
  // The webhooks are paused, so that nothing is sent from here.
  'action /webhooks/:webhook/ping': {
    needs: 'resend',
    status: 422,
    ask: (desk, at) => desk.post(`${webhook(at)}/ping`, []),
  },
  'action /webhooks/:webhook/redeliver': {
    needs: 'resend',
    status: 422,
    ask: (desk, at) => desk.post(`${webhook(at)}/redeliver`, [['since', '20/06/2026 10:00']]),
  },
  'view /webhooks/:webhook/events/:event': page(delivery),
  'view /webhooks/:webhook/events/:event/live': page((at) => `${delivery(at)}/live`),
  'action /webhooks/:webhook/events/:event/resend': {
    needs: 'resend',
    status: 422,
    ask: (desk, at) => desk.post(`${delivery(at)}/resend`, []),
  },
  'view /reconciliation': list('/reconciliation', MAKER),
  'view /reconciliation/:statement': {
    ...MAKER,
    unseen: 200,
    ask: async (desk) => desk.get(`/reconciliation/${await uploaded(desk)}`),
  },
  'upload /reconciliation/statement': {
    ...MAKER,
    unseen: 200,
    ask: (desk) => desk.upload('/reconciliation/statement', [], { name: 'a.csv', text: 'a;1,00\n' }),
  },
  'query /reconciliation/preview': {
    ...MAKER,
    unseen: 200,
    ask: async (desk) => desk.post('/reconciliation/preview', [['statement', await uploaded(desk)]]),
  },
  'query /reconciliation/compare': {
    ...MAKER,
    unseen: 200,
    ask: compared,
  },
  'query /reconciliation/found': {
    ...MAKER,
    unseen: 410,
    ask: async (desk, at) =>
      desk.post('/reconciliation/found', [
        ['statement', statementIn(await compared(desk, at))],
        ['result', 'matched'],
        ['from', '0'],
      ]),
  },
  'query /reconciliation/export': {
    ...MAKER,
    unseen: 410,
    ask: async (desk, at) =>
      desk.post('/reconciliation/export', [
        ['statement', statementIn(await compared(desk, at))],
        ['format', 'json'],
      ]),
  },
  'view /audit': list('/audit', AUDITOR),
  'view /audit/verification': list('/audit/verification', AUDITOR),
  'upload /audit/verify': { ...AUDITOR, ask: verified },
  'query /audit/cancel': { ...AUDITOR, ask: (desk) => desk.post('/audit/cancel', []) },
  'query /audit/verified-anchor': { ...AUDITOR, ask: (desk) => desk.post('/audit/verified-anchor', []) },
  'query /audit/differences': { ...AUDITOR, ask: (desk) => desk.post('/audit/differences', []) },
  'action /audit/anchor': { needs: 'seal', ask: (desk) => desk.post('/audit/anchor', []) },
  'query /audit/explain': { ...AUDITOR, ask: (desk, at) => desk.post('/audit/explain', explained(at)) },
  'query /audit/explain/json': {
    ...AUDITOR,
    ask: (desk, at) => desk.post('/audit/explain/json', explained(at)),
  },
  'view /awaiting': list('/awaiting'),
  'action /awaiting/settle': {
    needs: 'withdraw',
    unseen: 200,
    ask: (desk) =>
      desk.post('/awaiting/settle', [
        ['second', 'withdraw'],
        ['first', 'none'],
      ]),
  },
  'action /funds/rule': {
    needs: 'configure',
    ask: (desk, { fundId }) => desk.post('/funds/rule', [['fund', fundId]]),
  },
  'view /desk': list('/desk', { needs: 'desk_log' }),
  'view /funds': list('/funds'),
  'action /funds/:fund/name': {
    needs: 'configure',
    ask: (desk, { fundId }) => desk.post(`/funds/${fundId}/name`, [['name', `Fund ${fundId.slice(0, 8)}`]]),
  },
  'view /kept/:id': page(() => '/kept/none', { status: 404 }),
};
