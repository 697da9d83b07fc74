import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DeskWorld, formIn, wordsOf } from './desk-world.ts';

const DAY = '2026-06-19';

let desk: DeskWorld;
beforeAll(async () => {
  desk = await DeskWorld.open();
});
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
  });
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
