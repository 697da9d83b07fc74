import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { OperationQuarantinedError, ReadModelBehindError } from '../../../application/loans/read-loan.ts';
import { multipart, smallPdf } from '../../support/api-client.ts';
import { DeskWorld, personWith, wordsOf } from './desk-world.ts';

let desk: DeskWorld;
let fund: string;
/** On 2026-06-20: LATE-1 owes five installments since February, late-2 one since June; NEW-3 waits. */
beforeAll(async () => {
  desk = await DeskWorld.open();
  fund = desk.application.funds[0]!;
  await desk.assign('LATE-1');
  desk.world.clock.advance(1_000);
  await desk.assign('late-2', {
    ...{ number_of_installments: 1, acquisition_value: 900 },
    installments: [{ code: '001', due_date: '2026-06-15', face_value: 950 }],
  });
  desk.world.clock.advance(1_000);
  await desk.assign('NEW-3');
  await desk.activate('LATE-1', '2026-06-10', 10_032);
  await desk.activate('late-2', '2026-06-10', 900);
});
afterAll(() => desk.close());

const listed = (text: string): readonly string[] =>
  [...text.matchAll(/<td[^>]*><a class="code" href="[^"]*">([^<]*)<\/a>/g)].map(([, code]) => code!);
const codesAt = async (query: string) => listed((await desk.get(`/operations?${query}`)).text);

describe('operations are found by an address alone', () => {
  test.each([
    ['', ['NEW-3', 'late-2', 'LATE-1']],
    ['sort=received_at', ['LATE-1', 'late-2', 'NEW-3']],
    ['sort=code', ['LATE-1', 'NEW-3', 'late-2']],
    ['code=LATE', ['LATE-1', 'late-2']],
    ['code=-2', ['late-2']],
    ['status=received', ['NEW-3']],
    ['overdue=true', ['LATE-1', 'late-2']],
    ['overdue=true&sort=days_late', ['late-2', 'LATE-1']],
    ['overdue=true&sort=-overdue_value', ['LATE-1', 'late-2']],
    ['overdue=true&code=LATE-2', ['late-2']],
    ['overdue=true&status=received', []],
    ['sort=-days_late', ['NEW-3', 'late-2', 'LATE-1']],
    ['from=2026-06-20&to=2026-06-20', ['NEW-3', 'late-2', 'LATE-1']],
    ['to=2026-06-19', []],
  ])('%s', async (query, codes) => {
    expect(await codesAt(query)).toEqual(codes);
  });

  test('of a fund alone', async () => {
    expect(await codesAt(`fund=${fund}&overdue=true`)).toEqual(['LATE-1', 'late-2']);
    expect(await codesAt(`fund=${fund.toUpperCase()}`)).toHaveLength(3);
    expect(await codesAt(`fund=${crypto.randomUUID()}`)).toEqual([]);
  });

  test('with how many there are, how late they are, and what is overdue', async () => {
    const { text } = await desk.get('/operations?overdue=true');
    const words = wordsOf(text);
    expect(words).toContain('2 operations. Overdue in all: R$5,700.00, face value.');
    expect(words).toMatch(/LATE-1 Active \*+25 125 R\$4,750\.00 /);
    expect(words).toMatch(/late-2 Active \*+25 5 R\$950\.00 /);
    expect(text).toMatch(/aria-sort="descending"><a [^>]*sort=days_late[^>]*>Days late/);
    expect(wordsOf((await desk.get('/operations')).text)).toContain('3 operations.');
  });

  test.each([
    ['overdue=yes', 'that there is none of'],
    ['status=lost', 'that there is none of'],
    ['sort=value', 'that there is none of'],
    ['fund=all', 'A fund is a UUID'],
    ['from=2026-02-30', 'have to exist'],
    ['from=2026-02-02&to=2026-02-01', 'have to exist'],
    ['code=%C3%A7', 'A code has up to 100'],
  ])('%s is refused, and said so', async (query, says) => {
    for (const path of ['/operations', '/operations/export']) {
      const { status, text } = await desk.get(`${path}?${query}`);
      expect([status, wordsOf(text)]).toEqual([422, expect.stringContaining(says)]);
    }
  });
});

describe('what may be a document stands in no address', () => {
  const led = async (fields: readonly (readonly [string, string])[]): Promise<string> => {
    const { headers } = await desk.posted('/operations/search', fields);
    return headers.location!;
  };

  test('everything else does', async () => {
    const to = await led([
      ...([
        ['code', 'late'],
        ['fund', fund],
        ['status', 'active'],
      ] as const),
      ...([
        ['overdue', 'true'],
        ['from', ''],
        ['to', '30/06/2026'],
        ['sort', '-code'],
      ] as const),
    ]);
    expect(to).toBe(`/operations?code=late&fund=${fund}&status=active&overdue=true&sort=-code&to=2026-06-30`);
    expect(await codesAt(to.split('?')[1]!)).toEqual(['late-2', 'LATE-1']);
  });

  test.each([
    ['document', '529.982.247-25', ['NEW-3', 'late-2', 'LATE-1']],
    ['document', '11144477735', []],
    ['code', '52998224725', []],
    ['code', 'João', []],
  ])('%s %s', async (name, typed, codes) => {
    const to = await led([
      [name, typed],
      ['sort', '-received_at'],
    ]);
    expect(to).toMatch(/^\/operations\?(sort=-received_at&)?search=[0-9a-f-]{36}$/);
    const { text } = await desk.get(to);
    expect(listed(text)).toEqual(codes);
    const addresses = [...text.matchAll(/(?:href|action)="([^"]*)"/g)].map(([, address]) =>
      decodeURIComponent(address!),
    );
    expect(addresses.filter((address) => address.includes(typed))).toEqual([]);
  });

  test('a document in an address asks for nothing, and a search that is gone exports nothing', async () => {
    expect(await codesAt('document=11144477735')).toHaveLength(3);
    const gone = `search=${crypto.randomUUID()}`;
    expect(await codesAt(gone)).toEqual([]);
    expect((await desk.get(`/operations/export?${gone}`)).status).toBe(410);
  });
});

test('CSV has what is filtered, in its order, with every column of a list; the command line lists the same', async () => {
  const { text } = await desk.get('/operations/export?overdue=true&sort=days_late');
  const [header, ...lines] = text
    .trim()
    .split('\n')
    .map((line) => line.split(','));
  const column = (name: string) => lines.map((line) => line[header!.indexOf(name)]);
  expect(column('originator_proposal_code')).toEqual(['late-2', 'LATE-1']);
  expect(column('days_late')).toEqual(['5', '125']);
  expect(column('overdue_value')).toEqual(['950.00', '4750.00']);
  const rows = await Array.fromAsync(desk.service.loans.rows({ overdue: true, limit: 10 }));
  expect(rows.map((row) => [row.code, row.days_late, row.overdue_value])).toEqual([
    ['LATE-1', 125, 475_000],
    ['late-2', 5, 95_000],
  ]);
  const all = await Array.fromAsync(desk.service.loans.rows({ limit: 10 }));
  expect(all.map((row) => [row.code, row.days_late])).toEqual([
    ['LATE-1', 125],
    ['late-2', 5],
    ['NEW-3', null],
  ]);
});

describe('the page of an operation', () => {
  const shown = async (code: string, query = '') =>
    (await desk.get(`/operations/${desk.key(code)}${query}`)).text;

  test('says the rates in percent beside the daily factor', async () => {
    expect(wordsOf(await shown('LATE-1'))).toMatch(
      /Effective rate \d+(\.\d+)?% a year · \d(\.\d+)?% a month Daily factor 0\.99\d+ /,
    );
  });

  test('says that it waits in quarantine, not that it comes in a moment', async () => {
    const read = jest.spyOn(desk.service.loans, 'read');
    read.mockRejectedValueOnce(new OperationQuarantinedError());
    read.mockRejectedValueOnce(new ReadModelBehindError());
    const [quarantined, behind] = [await shown('LATE-1'), await shown('LATE-1')];
    expect(quarantined).toContain('This operation waits in quarantine');
    expect(quarantined).not.toContain('in a moment');
    expect(behind).toContain('Open the page again in a moment');
    read.mockRestore();
  });

  test('tells five overdue installments in one line, with each of them in it', async () => {
    const text = await shown('LATE-1');
    const [group, ...more] = [...text.matchAll(/<details class="group">.*?<\/ol><\/details>/gs)];
    expect(more).toEqual([]);
    expect(wordsOf(group![0])).toMatch(
      /^ ?\d\d\/\d\d\/2026, [\d:]+ 5 installments overdue 001, 002, 003, 004, 005 /,
    );
    expect(group![0].match(/<li/g)).toHaveLength(5);
    expect(group![0].match(/hx-get="[^"]*\/events\/\d+"/g)).toHaveLength(5);
    expect(await shown('late-2')).not.toContain('class="group"');
  });

  test('offers what the state of the operation and the roles in its fund allow', async () => {
    const offered = async (code: string) =>
      [...(await shown(code)).matchAll(/<button[^>]*name="decision"[^>]*value="(\w+)"/g)].map(
        ([, name]) => name,
      );
    expect(await offered('NEW-3')).toEqual(['approve', 'reject']);
    expect(await offered('LATE-1')).toEqual([]);
    for (const role of ['viewer', 'auditor', 'checker'] as const) {
      desk.become(personWith({ role }));
      const text = await shown('NEW-3');
      expect([role, text.includes('/decisions/')]).toEqual([role, false]);
    }
    desk.become(personWith({ role: 'viewer' }, { role: 'maker', funds: [fund] }));
    expect(await offered('NEW-3')).toEqual(['approve', 'reject']);
    desk.become(personWith({ role: 'viewer' }, { role: 'maker', funds: [crypto.randomUUID()] }));
    expect(await offered('NEW-3')).toEqual([]);
    desk.become(undefined);
  });

  test('shows a document beside its facts, or two beside one another, to who may see documents', async () => {
    const text = await shown('NEW-3');
    expect(text).not.toContain('<iframe');
    const [, first] = /href="[^"]*\?document=([0-9a-f-]{36})#/.exec(text)!;
    const framed = (page: string) => [...page.matchAll(/<iframe[^>]*src="([^"]*)"/g)].map(([, src]) => src);
    expect(framed(await shown('NEW-3', `?document=${first}`))).toEqual([
      `/documents/${desk.key('NEW-3')}/${first}`,
    ]);
    const data = {
      originator_proposal_code: 'NEW-3',
      documents: [{ type: 'contract', value: 'second.pdf' }],
    };
    const { body } = await desk.world.call(desk.application, {
      method: 'POST',
      path: '/loan/files',
      body: multipart('files_data', data, [{ name: 'second.pdf', content: smallPdf('second') }]),
    });
    const [{ document_id: second }] = (body as { documents: [{ document_id: string }] }).documents;
    await desk.world.call(desk.application, { method: 'GET', path: '/loan/NEW-3' });
    const compared = `?document=${first}&document=${second}`;
    expect(wordsOf(await shown('NEW-3', `?document=${first}`))).toContain('Compare');
    expect(framed(await shown('NEW-3', compared))).toHaveLength(2);
    expect(framed(await shown('NEW-3', `${compared}&document=${first}&document=x`))).toHaveLength(2);
    desk.become(personWith({ role: 'viewer' }));
    expect(await shown('NEW-3', compared)).not.toMatch(/<iframe|second\.pdf/);
    desk.become(undefined);
  });
});
