import { afterAll, describe, expect, test } from '@jest/globals';
import { loanStream } from '../../../application/command-handling/operation.ts';
import type { JsonText } from '../../../application/ports/event-store.ts';
import { sampleMetadata } from '../../contracts/event-store-samples.ts';
import { DeskWorld, formIn, wordsOf } from './desk-world.ts';

const DAY = '2026-06-19';

const desk = await DeskWorld.open();
afterAll(() => desk.close());

const REASONS = { reasons: [{ code: 'late', message: 'Decided elsewhere' }] };
const statuses = (text: string): readonly string[] =>
  formIn(text)
    .fields.filter(([name]) => name === 'status')
    .map(([, value]) => value);

describe('an operation that somebody else decided on since the preview', () => {
  test('stays in the form in the status that was shown, with who changed it, and the corrected form is refused', async () => {
    await desk.assign('A1');
    const preview = await desk.preview('reject', [desk.key('A1')]);
    await desk.elsewhere('A1', 'approve');
    const back = await desk.confirm(formIn(preview.text, { reason_code: 'a b', reason_message: 'No' }));
    expect(back.status).toBe(422);
    expect(statuses(back.text)).toEqual(['received']);
    expect(wordsOf(back.text)).toContain('Now: Approved. Approved by ana.lima at ');
    const mended = await desk.confirm(formIn(back.text, { reason_code: 'ab', reason_message: 'No' }));
    expect(wordsOf(mended.text)).toContain('0 done, 1 refused.');
    expect(wordsOf(mended.text)).toContain('Now: Approved. Approved by ana.lima at ');
  });

  test('is told before an amount that cannot be read', async () => {
    await desk.assign('A2');
    await desk.elsewhere('A2', 'approve');
    await desk.elsewhere('A2', 'sign_term');
    const preview = await desk.preview('disburse', [desk.key('A2')]);
    await desk.elsewhere('A2', 'reject', REASONS);
    const told = wordsOf((await desk.confirm(formIn(preview.text, { value: 'abc' }))).text);
    expect(told).toContain('Now: Rejected. Rejected by ana.lima at ');
    expect(told).not.toContain('has to be written like');
    expect(told).toContain('0 done, 1 refused.');
    const lines = await Array.fromAsync(desk.service.desk.lines({ code: 'A2' }));
    expect(lines.at(-1)).toMatchObject({
      action: 'refused',
      reason: 'operation_invalid_state',
      decision: 'disburse',
    });
  });
});

test('one that cannot be read any more is refused for that, and the others of its form are decided', async () => {
  for (const code of ['READ', 'UNREAD']) await desk.assign(code);
  const preview = await desk.preview('approve', [desk.key('READ'), desk.key('UNREAD')]);
  const { eventStore } = desk.world.parts;
  const { applicationId } = desk.application;
  const stream = loanStream(applicationId, 'UNREAD');
  const metadata = sampleMetadata({ applicationId });
  const event = { id: crypto.randomUUID(), type: 'loan.something_new.v1', data: '{}' as JsonText, metadata };
  await eventStore.append(stream, await eventStore.head(stream), [event]);
  const told = wordsOf((await desk.confirm(preview)).text);
  expect(told).toContain('1 done, 1 refused.');
  expect(told).toMatch(/READ Done Approved UNREAD Refused .*loan\.something_new\.v1/);
});

describe('a disbursement', () => {
  test('before the issue of one of several stops the form and names it', async () => {
    for (const [code, issued] of [
      ['EARLY', '2026-01-15'],
      ['LATE', '2026-02-01'],
    ] as const) {
      await desk.assign(code, { date_issued: issued });
      await desk.elsewhere(code, 'approve');
      await desk.elsewhere(code, 'sign_term');
    }
    const preview = await desk.preview('disburse', [desk.key('EARLY'), desk.key('LATE')]);
    expect(wordsOf(preview.text)).toContain('01/02/2026');
    const back = await desk.confirm(formIn(preview.text, { date: '2026-01-20' }));
    expect(back.status).toBe(422);
    expect(wordsOf(back.text)).toContain('The day may not be before the issue: LATE (01/02/2026).');
    const done = wordsOf((await desk.confirm(formIn(back.text, { date: DAY }))).text);
    expect(done).toContain('2 done, 0 refused.');
    expect(done).toMatch(/LATE Done Active R\$10,032\.00 19\/06\/2026/);
  });

  test('of nothing, or of less, has to be above zero', async () => {
    await desk.assign('ZERO');
    await desk.elsewhere('ZERO', 'approve');
    await desk.elsewhere('ZERO', 'sign_term');
    const preview = await desk.preview('disburse', [desk.key('ZERO')]);
    for (const value of ['0.00', '-5.00']) {
      const back = wordsOf((await desk.confirm(formIn(preview.text, { value }))).text);
      expect(back).toContain('The value of ZERO has to be above zero.');
    }
  });
});

test('a completed repurchase shows what it is worth, of which kind it is and from when it counts', async () => {
  const codes = ['EXIT-1', 'EXIT-2'];
  for (const [at, code] of codes.entries()) {
    await desk.assign(code);
    await desk.activate(code, DAY, 10_032);
    const body = {
      originator_proposal_code: code,
      idempotency_key: `exit-${code}`,
      effective_date: '2026-06-20',
      ...(at === 0
        ? { reason: 'repurchase', reason_detail: 'Fraud found', repurchase_value: 9000 }
        : { reason: 'cession_reversal' }),
    };
    const path = '/loan/repurchase';
    const { status, body: answer } = await desk.world.call(desk.application, { method: 'POST', path, body });
    expect([status, answer]).toEqual([200, expect.anything()]);
    await desk.world.call(desk.application, { method: 'GET', path: `/loan/${code}` });
  }
  const page = wordsOf((await desk.get(`/decisions/${desk.application.applicationId}/EXIT-1`)).text);
  expect(page).toContain('Kind repurchase Reason Fraud found Repurchase value R$9,000.00 calculated: R$');
  const preview = await desk.preview(
    'process_repurchase',
    codes.map((code) => desk.key(code)),
  );
  expect(wordsOf(preview.text)).toContain('repurchase value R$19,032.00 (acquisition value R$20,064.00)');
  expect(wordsOf(preview.text)).toContain('reversal of the cession R$10,032.00 20/06/2026');
  const result = wordsOf((await desk.confirm(preview)).text);
  expect(result).toContain('Value of the completed repurchases: R$19,032.00.');
  expect(result).toMatch(/EXIT-1 Done Repurchased repurchase R\$9,000\.00 calculated: R\$\S+ 20\/06\/2026/);
});

test('two operations of one code are told apart by their applications', async () => {
  const other = await desk.world.createApplication();
  await desk.assign('SAME');
  await desk.assign('SAME', {}, other);
  const preview = await desk.preview('approve', [desk.key('SAME'), desk.key('SAME', other)]);
  expect(wordsOf(preview.text)).toContain(other.applicationId);
  expect(wordsOf((await desk.confirm(preview)).text)).toContain(other.applicationId);
  const one = await desk.preview('sign_term', [desk.key('SAME')]);
  expect(wordsOf(one.text)).not.toContain(other.applicationId);
});

test('there is no decision that every object has a name for', async () => {
  for (const path of ['/decisions/preview', '/decisions/decide'])
    expect(
      (
        await desk.post(path, [
          ['decision', 'constructor'],
          ['operation', desk.key('A1')],
        ])
      ).status,
    ).toBe(422);
});

test('what is confirmed a second time is shown as one’s own decision', async () => {
  await desk.assign('TWICE');
  const preview = await desk.preview('approve', [desk.key('TWICE')]);
  await desk.confirm(preview);
  const again = wordsOf((await desk.confirm(preview)).text);
  expect(again).toContain('Done: your own decision, confirmed with this form before');
});

test('each reason is marked where it is wrong, beside the rule that stood there before', async () => {
  await desk.assign('REASONS');
  const preview = await desk.preview('reject', [desk.key('REASONS')]);
  expect(wordsOf(preview.text)).toContain('Letters without accents, digits');
  let [code, message] = [0, 0];
  const fields = preview.fields.map(([name, value]): readonly [string, string] => {
    if (name === 'reason_code') return [name, ['fine', 'not fine', ''][code++]!];
    if (name === 'reason_message') return [name, ['First', 'Second', 'Third'][message++]!];
    return [name, value];
  });
  const back = (await desk.confirm({ text: '', fields })).text;
  const marked = [...back.matchAll(/<input[^>]*aria-invalid="true"[^>]*>/g)].map(
    ([tag]) => / id="([^"]+)"/.exec(tag)![1],
  );
  expect(marked).toEqual(['reason_code-2', 'reason_code-3']);
  expect(back).toContain('href="#reason_code-2"');
});

test('the pages of one operation lead to each other', async () => {
  await desk.assign('LINKS');
  const { applicationId } = desk.application;
  expect((await desk.get(`/decisions/${applicationId}/LINKS`)).text).toContain(
    `href="/operations/${applicationId}/LINKS"`,
  );
  expect((await desk.get(`/operations/${applicationId}/LINKS`)).text).toContain(
    `href="/decisions/${applicationId}/LINKS"`,
  );
});

test('the number of those that wait is said to be of all, whatever the filter', async () => {
  const shown = wordsOf((await desk.get('/decisions?status=term_signed')).text);
  expect(shown).toMatch(/In all, \d+ operations wait now\./);
});

test('the daily factor is written as amounts are', async () => {
  const { text } = await desk.get(`/operations/${desk.application.applicationId}/LINKS`);
  expect(wordsOf(text)).toMatch(/Daily factor [01]\.\d+/);
});

describe('what is decided on', () => {
  const exposureOf = async (code: string): Promise<string> =>
    wordsOf((await desk.get(`/decisions/${desk.application.applicationId}/${code}/exposure`)).text);

  test('stands in the list and beside the operation: borrower, faces, rates and term', async () => {
    await desk.assign('FACTS');
    const list = wordsOf((await desk.get('/decisions')).text);
    expect(list).toMatch(
      /FACTS Approval Joana Prado \*{9}25 R\$10,032\.00 R\$11,400\.00 27\.\d+% 12 × until 15\/01\/2027/,
    );
    const page = wordsOf((await desk.get(`/decisions/${desk.application.applicationId}/FACTS`)).text);
    expect(page).toMatch(
      /Borrower Joana Prado \*{9}25 .*Face value R\$11,400\.00 Effective rates 27\.\d+% a year · 2\.\d+% a month/,
    );
  });

  test('the term ends with the last due date, in whatever order the schedule came', async () => {
    await desk.assign('BACKWARDS', {
      number_of_installments: 2,
      installments: [
        { code: '002', due_date: '2027-03-15', face_value: 6_000 },
        { code: '001', due_date: '2027-02-15', face_value: 6_000 },
      ],
    });
    const page = wordsOf((await desk.get(`/decisions/${desk.application.applicationId}/BACKWARDS`)).text);
    expect(page).toContain('2 × until 15/03/2027');
  });

  test('with what the fund has of borrower and originator, and the same contract elsewhere', async () => {
    const other = {
      number_of_installments: 1,
      installments: [{ code: '001', due_date: '2026-12-15', face_value: 11_000 }],
    };
    await desk.assign('ALONE', other);
    for (const code of ['TWIN', 'HELD']) await desk.assign(code);
    await desk.activate('HELD', '2026-06-19', 10_032);
    expect(await exposureOf('ALONE')).toContain(
      'No other operation of this borrower has the same installments.',
    );
    const told = await exposureOf('FACTS');
    expect(told).toMatch(/Of this borrower in this fund active: \d+ for R\$[\d,.]+; waiting: \d+ for/);
    expect(told).toMatch(/Of this originator in this fund active: \d+ for R\$[\d,.]+; waiting: \d+ for/);
    expect(told).toMatch(
      /other operations of this borrower have the same installments.* TWIN Received R\$10,032\.00/,
    );
    expect(told).toMatch(/ HELD Active R\$10,032\.00/);
    expect(told).not.toContain('ALONE');
  });

  test('a reason that was used before is chosen with one tick, and what is ticked twice goes once', async () => {
    for (const code of ['USED-1', 'USED-2', 'USED-3']) await desk.assign(code);
    await desk.elsewhere('USED-1', 'reject', { reasons: [{ code: 'limit', message: 'Too much of <b>' }] });
    const form = await desk.preview('reject', [desk.key('USED-2')]);
    expect(form.text).toContain('value="[&quot;limit&quot;,&quot;Too much of &lt;b>&quot;]"');
    const reason = JSON.stringify(['limit', 'Too much of <b>']);
    const kept = form.fields.filter(([name]) => name !== 'used_reason');
    const none = await desk.post('/decisions/decide', kept);
    expect(wordsOf(none.text)).toContain('Give at least one reason');
    const done = await desk.post('/decisions/decide', [
      ...kept,
      ['used_reason', reason],
      ['used_reason', reason],
    ]);
    expect(wordsOf(done.text)).toContain('1 done, 0 refused.');
    const { body } = await desk.world.call(desk.application, { method: 'GET', path: '/loan/USED-2' });
    expect(body.rejection_reasons).toEqual([{ code: 'limit', message: 'Too much of <b>' }]);
    for (const forged of ['', 'x', '{}', '[1,2]', '["a b","c"]']) {
      const refused = await desk.post('/decisions/decide', [
        ...(await desk.preview('reject', [desk.key('USED-3')])).fields.filter(
          ([name]) => name !== 'used_reason',
        ),
        ['used_reason', forged],
      ]);
      expect(wordsOf(refused.text)).not.toContain('1 done');
    }
  });

  test('count and sum are checked again where the form comes back, and nothing is decided on others', async () => {
    for (const code of ['SUM-1', 'SUM-2']) await desk.assign(code);
    const chosen = [desk.key('SUM-1'), desk.key('SUM-2')].map((key) => ['operation', key] as const);
    const counted = [
      ['chosen_count', '3'],
      ['chosen_sum', '3009600'],
    ] as const;
    const preview = await desk.post('/decisions/preview', [['decision', 'approve'], ...chosen, ...counted]);
    expect(wordsOf(preview.text)).toContain('On the list 3 were chosen, R$30,096.00.');
    const { fields } = formIn(preview.text);
    const less = fields.filter((_, at) => at !== fields.findIndex(([name]) => name === 'operation'));
    const refused = await desk.post('/decisions/decide', less);
    expect([refused.status, wordsOf(refused.text)]).toEqual([
      422,
      expect.stringContaining('nothing was decided'),
    ]);
    expect(wordsOf((await desk.post('/decisions/decide', fields)).text)).toContain('2 done, 0 refused.');
  });

  test('the result leads to the next of the same list, and that to the one behind it', async () => {
    const fund = desk.application.funds[0]!;
    for (const code of ['NEXT-1', 'NEXT-2']) await desk.assign(code);
    const next = async (path: string): Promise<string> => (await desk.get(path)).headers.location!;
    const form = await desk.preview('approve', [desk.key('FACTS'), desk.key('ALONE'), desk.key('USED-3')]);
    const done = await desk.confirm(form);
    const [, way] = /href="(\/decisions\/next[^"]*)"/.exec(done.text)!;
    expect(way).toBe('/decisions/next?status=received');
    const first = await next(way!);
    expect(first).toMatch(/\/decisions\/[^/]+\/[^/?]+\?status=received$/);
    const second = await next(
      /href="(\/decisions\/next[^"]*)"/.exec((await desk.get(first)).text)![1]!.replaceAll('&amp;', '&'),
    );
    expect([second === first, second]).toEqual([false, expect.stringContaining('?status=received')]);
    expect(await next(`/decisions/next?fund=${fund}&status=repurchase_pending`)).toBe(
      `/decisions?fund=${fund}&status=repurchase_pending`,
    );
  });
});
