import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { fundNames } from '../../../infrastructure/console/funds.ts';
import { written } from '../../../infrastructure/console/html.ts';
import { speakingIn } from '../../../infrastructure/console/language.ts';
import { positionView } from '../../../infrastructure/console/pages/portfolio/position.ts';
import { moneyBody } from '../../../infrastructure/console/pages/today/page.ts';
import { FundUnderTest, active } from '../../contracts/fund-side-samples.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import { openReadModel } from '../../support/sql/temporary-database.ts';
import { DeskWorld, wordsOf } from './desk-world.ts';

let desk: DeskWorld;
beforeAll(async () => {
  desk = await DeskWorld.open();
  await desk.assign('HELD');
  await desk.activate('HELD', '2026-06-10', 10_032);
});
afterAll(() => desk.close());

/** The table of the cash flow, by month: came, overdue, to fall due. */
const cashOn = async (day: string): Promise<string> => {
  const { text } = await desk.get(`/portfolio/position?fund=${desk.application.funds[0]!}&day=${day}`);
  return wordsOf(/<section aria-labelledby="cash-title".*?<\/section>/s.exec(text)![0]);
};

test('what is due before the day and open is overdue, in the month of the day too', async () => {
  expect(await cashOn('2026-06-20')).toContain('06/2026 R$0.00 R$950.00 R$0.00');
  expect(await cashOn('2026-06-15')).toContain('06/2026 R$0.00 R$0.00 R$950.00');
  expect(await cashOn('2026-06-20')).toContain('07/2026 R$0.00 R$0.00 R$950.00');
});

test('an operation that was received after its disbursement is said to count in the portfolio before', async () => {
  const { applicationId, funds } = desk.application;
  const { text } = await desk.get(`/portfolio/position?fund=${funds[0]!}&day=2026-06-12`);
  expect(wordsOf(text)).toContain('An operation counts from the day of its disbursement');
  const told = wordsOf((await desk.get(`/operations/${applicationId}/HELD?as_of=2026-06-12`)).text);
  expect(told).toContain('On that day the operation had not been received yet. It was registered later');
  expect(told).toContain('as disbursed on 10/06/2026');
  const before = wordsOf((await desk.get(`/operations/${applicationId}/HELD?as_of=2026-06-09`)).text);
  expect(before).toContain('At that time the operation did not exist yet.');
});

test('each figure leads to the operations that it is made of, which add up to it', async () => {
  const { applicationId, funds } = desk.application;
  const of = (part: string, fund = funds[0]!): string =>
    `/portfolio/operations?fund=${fund}&day=2026-06-20&${part}`;
  const listed = async (path: string): Promise<string> => wordsOf((await desk.get(path)).text);
  const { text } = await desk.get(`/portfolio/position?fund=${funds[0]!}&day=2026-06-20`);
  const links = [...text.matchAll(/href="(\/portfolio\/operations[^"]+)"/g)].map(([, path]) =>
    path!.replaceAll('&amp;', '&'),
  );
  expect(links).toEqual(
    expect.arrayContaining([
      ...['by=late&value=0', 'by=late&value=1', 'by=month&value=2026-06', 'by=state&value=active'].map(
        (part) => of(part),
      ),
      ...[`by=application&value=${applicationId}`, 'by=product&value=financing'].map((part) => of(part)),
    ]),
  );
  for (const path of links) expect(await listed(path)).toContain('HELD');
  // The first five installments are due, the last of them by five days.
  expect(await listed(of('by=late&value=1'))).toMatch(
    /Days late: 1–30 .*Installments 1 Face value R\$950\.00 /,
  );
  expect(await listed(of('by=late&value=all'))).toMatch(/Overdue .*Installments 5 Face value R\$4,750\.00 /);
  expect(await listed(of('by=late&value=0'))).toMatch(/Not due yet .*Installments 7 /);
  expect(await listed(of('by=month&value=2026-07'))).toMatch(/Due in 07\/2026 .*Installments 1 /);
  expect(await listed(of('by=state&value=active'))).toMatch(/Installments 12 Face value R\$11,400\.00 /);
  expect(await listed(of('by=late&value=61', 'all'))).toMatch(/Installments 1 /);
  expect(await listed(of('by=state&value=settled'))).toContain('Operations held 0');
  for (const part of ['by=borrower&value=1', 'by=late&value=2', 'by=late', 'by=month&value=07/2026'])
    expect((await desk.get(of(part))).status).toBe(400);
});

test('all funds stand together, and the page opens with what was looked at last', async () => {
  const [fund, other] = desk.application.funds as readonly [string, string];
  expect((await desk.get('/portfolio')).text).toContain('Choose a fund.');
  const together = wordsOf((await desk.get('/portfolio/position?fund=all&day=2026-06-20')).text);
  const one = wordsOf((await desk.get(`/portfolio/position?fund=${fund}&day=2026-06-20`)).text);
  const [, worth] = /Open present value (R\$[\d,.]+)/.exec(one)!;
  expect(together).toContain(`Open present value ${worth!}`);
  expect(together).toMatch(new RegExp(`By fund .*${fund} 1 .*${other} 0 `));
  for (const asked of [fund, 'all', other]) {
    await desk.get(`/portfolio?fund=${asked}`);
    expect((await desk.get('/portfolio')).text).toContain(`/portfolio/position?fund=${asked}&amp;`);
  }
  await desk.get(`/portfolio?fund=${fund.replaceAll(/./g, '0')}`);
  expect((await desk.get('/portfolio')).text).toContain(`/portfolio/position?fund=${other}&amp;`);
});

test('CSV for Excel in Portuguese is a switch that the browser keeps, for every file', async () => {
  const of = `fund=${desk.application.funds[0]!}&day=2026-06-20`;
  const files = ['/operations/export', `/portfolio/export?${of}`, `/portfolio/composition?${of}`];
  const written = async (): Promise<string> => {
    const [operations, position, composition] = await Promise.all(files.map((path) => desk.get(path)));
    const [line] = operations!.text.split('\n').slice(1);
    const sums = position!.text
      .split('\n')
      .find((one) => one.startsWith('operations') || one.startsWith('overdue'));
    const state = composition!.text.split('\n').find((one) => one.startsWith('state'));
    return [line, sums, state].map((one) => one!.replaceAll(/[0-9a-f-]{36}/g, 'ID')).join('\n');
  };
  const plain = await written();
  expect(plain).toMatch(/,HELD,ID,active,financing,10032\.00,0\.00,12,2026-01-15,/);
  expect(plain).toMatch(/\nstate,,active,1,\d+\.\d\d,1\.000000,,$/);
  const { text } = await desk.post('/session/csv', [['csv', 'brazilian']]);
  expect(text).toContain('<h1>Today</h1>');
  const brazilian = await written();
  expect(brazilian).toMatch(/;HELD;ID;Ativa;financing;10032,00;0,00;12;2026-01-15;/);
  expect(brazilian).toMatch(/\nstate;;Ativa;1;\d+,\d\d;1,000000;;$/);
  for (const path of files) expect((await desk.get(path)).text.charCodeAt(0)).toBe(0xfeff);
  expect((await desk.get('/operations')).text).toContain('aria-pressed="true"');
  await desk.post('/session/csv', [['csv', 'anything']]);
  expect(await written()).toBe(plain);
});

describe('the names of funds', () => {
  let [named, unnamed] = ['', ''];
  beforeAll(async () => {
    [named, unnamed] = desk.application.funds as [string, string];
    await desk.assign('WAITS');
  });

  const name = (text: string): Promise<void> =>
    desk.world.parts.funds.name({ fundId: named, name: text, operator: 'Ana' });
  const paths = (): readonly string[] => [
    ...['/', '/operations', '/decisions', '/audit', '/portfolio'],
    `/operations/${desk.key('HELD')}`,
    `/decisions/${desk.key('WAITS')}`,
  ];

  test('without a name every page has the id alone', async () => {
    for (const path of paths()) {
      const { text } = await desk.get(path);
      expect(text).toContain(named);
      expect(text).not.toContain(`<small class="code">${named}</small>`);
    }
  });

  test('once it has one, every page says it with the id beside it, for names of any kind', async () => {
    await name('Aurora & <b>Filhos</b>');
    for (const path of paths()) {
      const { text } = await desk.get(path);
      expect([path, text]).toEqual([path, expect.stringContaining('Aurora &amp; &lt;b>Filhos&lt;/b>')]);
      expect(text).toContain(named);
    }
    const { text } = await desk.get('/decisions');
    expect(wordsOf(text)).toContain(`Aurora &amp; &lt;b>Filhos&lt;/b> ${named}`);
  });

  test('a selection offers names and keeps ids', async () => {
    await name('Aurora');
    const options = async (path: string) =>
      [...(await desk.get(path)).text.matchAll(/<option value="([^"]*)"[^>]*>([^<]*)</g)].map(
        ([, value, shown]) => [value, shown],
      );
    for (const path of ['/operations', '/portfolio', '/decisions'])
      expect(await options(path)).toContainEqual([named, `Aurora · ${named}`]);
    expect(await options('/operations')).toContainEqual([unnamed, unnamed]);
  });

  test('the chart of the week has the name, cut where it is long, and never inside of a character', () => {
    const due = [named, unnamed].map((fundId) => ({
      fundId,
      day: '2026-06-20',
      installments: 1,
      faceValue: 95_000,
    }));
    const names = new Map([[named, `Aurora ${'x'.repeat(16)}😀${'x'.repeat(50)}`]]);
    const text = written(moneyBody({ today: '2026-06-19', due, cameIn: [] }, names));
    expect(text).toContain(`Aurora ${'x'.repeat(16)}😀&quot;`);
    expect(text).toContain(`&quot;${unnamed.slice(0, 8)}&quot;`);
    expect(wordsOf(text)).toContain(`${names.get(named)!} ${named}`);
  });

  test('a preview of decisions says the name', async () => {
    await name('Aurora');
    expect(wordsOf((await desk.preview('approve', [desk.key('WAITS')])).text)).toContain(`Aurora ${named}`);
  });

  test('an audit of a fund is asked for by its name', async () => {
    await name('Aurora');
    const { text } = await desk.get('/audit');
    expect(text).toContain(`<option value="Aurora" label="${named}"></option>`);
  });

  test('the export keeps the id where it was, and has the name in a last column', async () => {
    await name('Aurora');
    const lines = (await desk.get('/operations/export')).text.trim().split('\n');
    expect(lines[0]).toMatch(
      /^application_id,originator_proposal_code,fund_id,.*,updated_at,days_late,overdue_value,fund_name$/,
    );
    expect(lines[1]).toMatch(new RegExp(`,${named},.*,Aurora$`));
  });

  test('an application is called like its oldest client that is not revoked', async () => {
    const { clients, webhooks } = desk.world.parts;
    // Not the one that other tests call with: its token is worth nothing once its client is revoked.
    const { applicationId, clientId } = await desk.world.createApplication();
    const shown = async () => (await clients.applicationNames()).get(applicationId);
    await clients.create({ applicationId, name: 'younger', fundIds: [named] });
    expect(await shown()).toBe('life');
    await clients.revoke(clientId);
    expect(await shown()).toBe('younger');
    const asker = { applicationId, clientId, requestId: 'r', fundIds: [named] };
    const hook = { url: 'https://example.org/hook', events: ['*'], fundIds: [named] };
    const { webhook } = await webhooks.create(asker, hook);
    const { text } = await desk.get(`/webhooks/${webhook.webhookId}`);
    expect(wordsOf(text)).toContain('younger');
    expect(wordsOf(text)).toContain(`Aurora ${named}`);
  });

  test('names that cannot be read leave the ids, and a line in the log', async () => {
    const logger = new RecordingLogger();
    const funds = { names: () => Promise.reject(new Error('the event store is away')) };
    expect(await fundNames({ funds } as never, { logger } as never)).toEqual(new Map());
    expect(logger.lines).toMatchObject([{ level: 'warn', fields: { error: 'the event store is away' } }]);
  });
});

test('the picture of the cash flow ends with the last month where all of them are over', async () => {
  const [, fund] = desk.application.funds as readonly [string, string];
  const installments = Array.from({ length: 48 }, (_, i) => ({
    ...{ code: `${i + 1}`.padStart(3, '0'), face_value: 400 },
    due_date: `${2026 + Math.floor((6 + i) / 12)}-${`${((6 + i) % 12) + 1}`.padStart(2, '0')}-15`,
  }));
  const long = { number_of_installments: 48, installments };
  await desk.assign('LONG', long, { ...desk.application, funds: [fund] });
  await desk.activate('LONG', '2026-06-10', 10_032);
  const { text } = await desk.get(`/portfolio/position?fund=${fund}&day=2031-01-01`);
  expect(/&quot;labels&quot;:\[([^\]]*)\],&quot;series&quot;:\[[^\]]*Received/.exec(text)?.[1]).toMatch(
    /06\/2030&quot;$/,
  );
});

test('the portfolio says which operations no present value holds', async () => {
  const { database, close } = await openReadModel();
  const fund = new FundUnderTest(database, 100);
  const shown = async (): Promise<string> => {
    const analysed = await fund.analysed('2026-06-20');
    const drill = (): string => '/operations';
    const exports = { position: '/position', composition: '/composition' };
    const others = { against: undefined, names: new Map(), documents: new Map(), exports, drill, byFund: [] };
    return speakingIn('en', () => written(positionView({ analysed, ...others })));
  };
  try {
    expect(await shown()).not.toContain('no present value');
    const pricing = { policy: 'curve_v1', dailyFactor: '0.8' } as const;
    await fund.tell('CHEAP', active(fund.loan('CHEAP', { pricing })));
    expect(await shown()).toContain(
      '1 operations are worth more than an amount can say; no present value holds them: CHEAP.',
    );
  } finally {
    await close();
  }
});
