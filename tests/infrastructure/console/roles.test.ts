import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { may } from '../../../application/desk/rights.ts';
import type { Person, Role } from '../../../application/desk/rights.ts';
import { texts as webhooks } from '../../../infrastructure/console/pages/webhooks/texts.ts';
import { spokenIn } from '../../support/spoken-texts.ts';
import { PAGES } from '../../../infrastructure/console/pages/all.ts';
import { settlement } from '../../support/api-client.ts';
import type { ConsoleAnswer } from '../../support/console-server.ts';
import type { TestApplication } from '../../lives/world.ts';
import { DeskWorld, formIn, wordsOf, personWith } from './desk-world.ts';
import { ROWS } from './role-routes.ts';
import type { Target } from './role-routes.ts';

const ROLES: readonly Role[] = ['viewer', 'maker', 'checker', 'auditor'];
const DAY = '2026-06-10';
/** In a page, in a file, or in the bytes of a document. */
const OWN_BORROWER = ['Joana', '52998224725', '*********25', 'ccb.pdf', '%PDF', 'Paulista', '88887777'];
const OTHER_BORROWER = {
  borrower: {
    ...{ document_number: '11144477735', document_type: 'CPF', name: 'Zulmira Alheia' },
    ...{ birth_date: '1985-03-12', email: 'z@example.com', phone: '+5511977776666' },
    address: {
      ...{ zip_code: '01310100', street: 'Rua Alheia', number: '1', neighborhood: 'Centro' },
      ...{ city: 'Sao Paulo', state: 'SP' },
    },
  },
};

// Each role asks for every route, four times.
jest.setTimeout(300_000);

let desk: DeskWorld;
let own: Target;
let other: Target;
/** What must not be told to who sees the own fund alone. */
let secrets: readonly string[];
let spanning: string;
let foreign: TestApplication;

/** A webhook that sends nothing. */
const pausedWebhook = async (name: string, fundIds: readonly string[] | null): Promise<string> => {
  const { webhooks } = desk.world.parts;
  const { applicationId, clientId, funds } = desk.application;
  const context = { requestId: name, clientId, applicationId, fundIds: funds };
  const input = { url: `https://${name}.example/hook`, events: ['*'], fundIds, description: null };
  const { webhook } = await webhooks.create(context, input);
  await webhooks.pause(context, webhook.webhookId);
  return webhook.webhookId;
};

/** Until it is queued. */
const eventOf = async (webhookId: string, code: string): Promise<string> => {
  for (;;) {
    const { deliveries } = await desk.world.parts.webhooks.deliveries.page('operator', webhookId, {
      limit: 100,
    });
    const found = deliveries.find((one) => one.code === code);
    if (found) return found.eventId;
    await setTimeout(20);
  }
};

/** Two of them fall due in this week. */
const THIS_WEEK = {
  number_of_installments: 2,
  installments: ['001', '002'].map((code) => ({ code, due_date: '2026-06-21', face_value: 6_000 })),
};

const targetOf = async (name: string, fundId: string, more: object): Promise<Target> => {
  const { applicationId, clientId } = desk.application;
  const [held, waits] = [`${name}-HELD`, `${name}-WAITS`];
  const webhookId = await pausedWebhook(name.toLowerCase(), [fundId]);
  for (const code of [held, waits])
    await desk.assign(code, { ...THIS_WEEK, ...more }, { applicationId, clientId, funds: [fundId] });
  await desk.elsewhere(held, 'approve', { note: 'Joana called' });
  await desk.elsewhere(held, 'sign_term');
  await desk.elsewhere(held, 'disburse', { disbursement_date: DAY, disbursed_value: 10_032 });
  const details = await desk.world.parts.loans.read({ applicationId }, held);
  const paid = settlement(held, '001', 950, { settled_at: '2026-06-18' });
  await desk.world.call(desk.application, { method: 'POST', path: '/installment/settle', body: paid });
  // Until it is shown.
  await desk.world.call(desk.application, { method: 'GET', path: `/loan/${held}` });
  const { documentId } = details!.documents[0]!;
  const eventId = await eventOf(webhookId, held);
  return { applicationId, fundId, held, waits, documentId, webhookId, eventId };
};

const nameFund = (fundId: string, name: string): Promise<void> =>
  desk.world.parts.funds.name({ fundId, name, operator: 'Ana' });

beforeAll(async () => {
  desk = await DeskWorld.open();
  const [ownFund, otherFund] = desk.application.funds as [string, string];
  spanning = await pausedWebhook('spanning', null);
  own = await targetOf('OWN', ownFund, {});
  other = await targetOf('OTHER', otherFund, OTHER_BORROWER);
  // What the own fund waits for, sold to the other one as well: that it is the same borrower is for nobody of one fund alone.
  const { applicationId, clientId } = desk.application;
  await desk.assign('OTHER-TWIN', THIS_WEEK, { applicationId, clientId, funds: [otherFund] });
  foreign = await desk.world.createApplication();
  await desk.assign('FOREIGN-1', OTHER_BORROWER, foreign);
  await nameFund(ownFund, 'Fundo Nosso');
  await nameFund(otherFund, 'Fundo Alheio');
  await nameFund(foreign.funds[0]!, 'Fundo Distante');
  secrets = [
    ...[otherFund, ...foreign.funds, foreign.applicationId, 'Fundo Alheio', 'Fundo Distante'],
    ...['OTHER-', 'FOREIGN-', 'Zulmira', '11144477735', '*********35', 'Alheia', '77776666'],
    ...['other.example', 'spanning.example', other.webhookId, other.eventId, other.documentId, spanning],
  ];
});
afterAll(() => desk.close());

/** The session goes on as this person, and what is typed into addresses and forms is written down. */
const asking = (person: Person | undefined) => {
  desk.become(person);
  const typed: unknown[] = [];
  const noted =
    <Rest extends readonly unknown[]>(ask: (path: string, ...rest: Rest) => Promise<ConsoleAnswer>) =>
    (path: string, ...rest: Rest): Promise<ConsoleAnswer> => {
      typed.push(path, rest);
      return ask(path, ...rest);
    };
  const recording = {
    get: noted((path) => desk.get(path)),
    post: noted((path, fields: Parameters<DeskWorld['post']>[1]) => desk.post(path, fields)),
    upload: noted(
      (path, fields: Parameters<DeskWorld['upload']>[1], file: Parameters<DeskWorld['upload']>[2]) =>
        desk.upload(path, fields, file),
    ),
  } as unknown as DeskWorld;
  return { desk: recording, wasTyped: (text: string): boolean => JSON.stringify(typed).includes(text) };
};

const toldOf = (
  { text }: ConsoleAnswer,
  hidden: readonly string[],
  wasTyped: (text: string) => boolean,
): readonly string[] => hidden.filter((one) => text.includes(one) && !wasTyped(one));

/** Every route asked by this person: whose roles are alike in all funds meets the same in the other one, and asks for the own one alone. */
const walk = async (
  person: Person | undefined,
  hidden: readonly string[],
  {
    limited = false,
    targets = [own],
  }: { readonly limited?: boolean; readonly targets?: readonly Target[] } = {},
) => {
  const answers: { readonly route: string; readonly status: number; readonly told: readonly string[] }[] = [];
  const expected: typeof answers = [];
  let all = '';
  for (const [route, row] of Object.entries(ROWS))
    for (const at of targets) {
      const name = `${route} ${at === own ? 'own' : 'other'}`;
      const asked = asking(person);
      const answer = await row.ask(asked.desk, at);
      const { needs = 'see', status = 200, unseen = 404 } = row;
      const allowed = may({ person }, needs);
      answers.push({ route: name, status: answer.status, told: toldOf(answer, hidden, asked.wasTyped) });
      const good = limited && at === other ? (status === 404 ? 404 : unseen) : status;
      expected.push({ route: name, status: allowed ? good : 403, told: [] });
      all += answer.text;
    }
  return { answers, expected, all };
};

test('every route of the console has a row, and no row is left over', () => {
  const routes = PAGES.flatMap((page) => page.routes.map(({ kind, path }) => `${kind} ${path}`));
  expect(Object.keys(ROWS).toSorted()).toEqual(routes.toSorted());
});

test('the same contract in another fund is told to who may know the borrowers of both', async () => {
  const exposureFor = async (person: Person | undefined): Promise<string> => {
    desk.become(person);
    return (await desk.get(`/decisions/${own.applicationId}/${own.waits}/exposure`)).text;
  };
  const makerAndViewer = personWith(
    { role: 'maker', funds: [own.fundId] },
    { role: 'viewer', funds: [other.fundId] },
  );
  expect(await exposureFor(personWith({ role: 'maker' }))).toContain('OTHER-TWIN');
  for (const person of [
    makerAndViewer,
    personWith({ role: 'maker', funds: [own.fundId] }),
    personWith({ role: 'viewer' }),
  ])
    expect(await exposureFor(person)).not.toContain('OTHER-TWIN');
  expect(await exposureFor(makerAndViewer)).toContain('Of this borrower in this fund');
  expect(await exposureFor(personWith({ role: 'viewer' }))).not.toContain('borrower');
});

test('without sign-in everything is there, and shows what others must not see', async () => {
  const { answers, expected, all } = await walk(undefined, [], { targets: [own, other] });
  expect(answers).toEqual(expected);
  for (const secret of [...secrets, 'Joana', '*********25', 'ccb.pdf', '%PDF'])
    if (!['11144477735', '77776666', other.documentId].includes(secret)) expect(all).toContain(secret);
});

describe.each(ROLES)('as a %s', (role) => {
  const masks = role === 'viewer' ? OWN_BORROWER : [];

  test('of every fund, each route answers by its right', async () => {
    const { answers, expected, all } = await walk(personWith({ role }), masks);
    expect(answers).toEqual(expected);
    if (role !== 'viewer')
      for (const shown of ['Joana Prado', '*********25', '%PDF']) expect(all).toContain(shown);
  });

  test('of one fund, nothing tells of another one', async () => {
    const person = personWith({ role, funds: [own.fundId] });
    const { answers, expected, all } = await walk(person, [...secrets, ...masks], {
      limited: true,
      targets: [own, other],
    });
    expect(answers).toEqual(expected);
    expect(all).toContain('OWN-HELD');
  });
});

test('whose roles are of no fund, or who has none, is refused everywhere', async () => {
  for (const grants of [[], [{ role: 'maker', funds: [] }]] as const) {
    const { answers } = await walk(personWith(...grants), [...secrets, ...OWN_BORROWER]);
    for (const { route, status, told } of answers)
      expect({ route, status, told }).toEqual({ route, status: 403, told: [] });
  }
});

/** A viewer of the own fund who is a maker of the other one. */
const mixed = (): Person =>
  personWith({ role: 'viewer', funds: [own.fundId] }, { role: 'maker', funds: [other.fundId] });
const makerOf = (...funds: readonly string[]): Person => personWith({ role: 'maker', funds });

describe('who wants to get round it', () => {
  test('finds no document of another operation under the address of an own one', async () => {
    desk.become(makerOf(own.fundId));
    const { status, text } = await desk.get(`/documents/${desk.key(own.held)}/${other.documentId}`);
    expect([status, text.includes('%PDF')]).toEqual([404, false]);
  });

  test('finds no endpoint that may be sent what another fund does', async () => {
    desk.become(makerOf(own.fundId));
    for (const path of [`/webhooks/${spanning}`, `/webhooks/${spanning}/events/${own.eventId}`]) {
      expect((await desk.get(path)).status).toBe(404);
    }
    expect((await desk.post(`/webhooks/${spanning}/events/${own.eventId}/resend`, [])).status).toBe(404);
    expect((await desk.get(`/webhooks/${own.webhookId}/events/${other.eventId}`)).status).toBe(404);
    expect((await desk.get(`/operations/${desk.key(own.held)}`)).text).not.toContain('spanning.example');
    desk.become(makerOf(own.fundId, other.fundId));
    expect((await desk.get(`/webhooks/${spanning}`)).status).toBe(200);
  });

  test('does not learn, by searching, whose operation it is', async () => {
    const search = (document: string) => desk.post('/operations/search', [['document', document]]);
    desk.become(personWith({ role: 'viewer' }));
    expect((await search('52998224725')).status).toBe(403);
    desk.become(mixed());
    expect((await search('52998224725')).text).not.toContain('OWN-');
    expect((await search('11144477735')).text).toContain('OTHER-HELD');
  });

  test('has in each fund the rights that the roles of that fund give', async () => {
    desk.become(mixed());
    const pages = async ({ held }: Target) => (await desk.get(`/operations/${desk.key(held)}`)).text;
    expect(await pages(own)).not.toMatch(/Joana|ccb\.pdf/);
    expect(await pages(other)).toMatch(/Zulmira Alheia.*ccb\.pdf/s);
    const list = await desk.get('/decisions');
    expect(list.text).toContain(`value="${desk.key(other.waits)}"`);
    expect(list.text).not.toContain(`value="${desk.key(own.waits)}"`);
    const resend = ({ webhookId, eventId }: Target) =>
      desk.post(`/webhooks/${webhookId}/events/${eventId}/resend`, []);
    expect([(await resend(own)).status, (await resend(other)).status]).toEqual([403, 422]);
    expect((await desk.post(`/webhooks/${spanning}/ping`, [])).status).toBe(403);
  });
});

/** A decision on both, posted at once, whatever was shown before. */
const approveBoth = (ids: string): Promise<ConsoleAnswer> =>
  desk.post(
    '/decisions/decide',
    [own, other].flatMap(({ waits }, i) => [
      ...(i === 0 ? [['decision', 'approve'] as const] : []),
      ...([
        ['operation', desk.key(waits)],
        ['decision_id', `${ids}-${i}`],
        ['status', 'received'],
      ] as const),
    ]),
  );
const statusOf = async ({ waits }: Target): Promise<string | null> =>
  (await desk.world.parts.loans.read(desk.application, waits))!.loan.status;

describe('a decision on operations of several funds', () => {
  test('is refused whole where one is of a fund that the person only looks at', async () => {
    desk.become(mixed());
    const answer = await approveBoth('mixed');
    expect(answer.status).toBe(403);
    expect(answer.text).toContain('It takes the role maker in this fund');
    expect([await statusOf(own), await statusOf(other)]).toEqual(['received', 'received']);
  });

  test('finds nothing to decide in a fund that does not exist for the person', async () => {
    desk.become(makerOf(own.fundId));
    const told = wordsOf((await approveBoth('own')).text);
    expect(told).toContain('1 done, 1 refused.');
    expect(told).toContain('no operation has this code');
    expect([await statusOf(own), await statusOf(other)]).toEqual(['approved', 'received']);
  });
});

describe('a role that is lost in between', () => {
  test('takes with it what was shown under it', async () => {
    desk.become(personWith({ role: 'maker' }));
    const { text } = await desk.preview('approve', [desk.key(other.waits)]);
    expect(text).toContain('OTHER-WAITS');
    const uploaded = await desk.upload('/reconciliation/statement', [], { name: 'a.csv', text: 'a;1,00\n' });
    const statement = /name="statement" value="([\w-]+)"/.exec(uploaded.text)![1]!;
    desk.become(makerOf(own.fundId));
    expect((await desk.get(`/reconciliation/${statement}`)).status).toBe(410);
    expect((await desk.confirm(formIn(text))).text).not.toContain('Zulmira');
    expect(await statusOf(other)).toBe('received');
  });
});

describe('what a page offers', () => {
  const offered = async (role: Role): Promise<readonly string[]> => {
    desk.become(personWith({ role }));
    const pages = [
      ...['/', '/decisions', '/operations', '/audit', `/decisions/${desk.key(other.waits)}`],
      ...[`/operations/${desk.key(other.waits)}`, `/webhooks/${own.webhookId}`],
      `/webhooks/${own.webhookId}/events/${own.eventId}`,
    ];
    const texts = await Promise.all(pages.map(async (path) => (await desk.get(path)).text));
    const found = {
      decide: /data-key|data-row|name="decision"|action="\/decisions\/preview"/,
      resend: new RegExp(spokenIn('en', webhooks).pausedHint),
      reconcile: /href="\/reconciliation"/,
      verify: /href="\/audit"/,
      seal: /action="\/audit\/anchor"/,
      documents: /<h2[^>]*>Documents</,
      search: /name="document"/,
    };
    const text = texts.join('');
    return Object.entries(found).flatMap(([name, pattern]) => (pattern.test(text) ? [name] : []));
  };

  test.each([
    ['viewer', []],
    ['maker', ['decide', 'resend', 'reconcile', 'documents', 'search']],
    ['checker', ['documents', 'search']],
    ['auditor', ['verify', 'documents', 'search']],
  ] as const)('to a %s is what the role allows', async (role, all) => {
    expect(await offered(role)).toEqual(all);
  });
});

test('a refusal says in the language of the person which role it takes', async () => {
  desk.become(personWith({ role: 'viewer' }));
  const inEnglish = await desk.get('/audit');
  expect(wordsOf(inEnglish.text)).toContain('It takes the role auditor in all funds');
  await desk.post('/session/language', [['language', 'pt-BR']]);
  const { status, text } = await desk.get('/reconciliation');
  expect([status, wordsOf(text)]).toEqual([403, expect.stringContaining('É preciso ser maker neste fundo')]);
  await desk.post('/session/language', [['language', 'en']]);
});
