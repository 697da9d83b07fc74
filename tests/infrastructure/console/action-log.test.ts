import { expect, test } from '@jest/globals';
import { action } from '../../../infrastructure/console/page.ts';
import type { Page } from '../../../infrastructure/console/page.ts';
import { decideAll } from '../../../infrastructure/console/pages/decisions/result.ts';
import { ConsoleServer } from '../../support/console-server.ts';
import { RunningService } from '../../support/running-service.ts';

const PAGE: Page = {
  path: '/',
  title: () => 'Test',
  routes: [action('/webhooks/:webhook/events/:event/resend', async () => ({ kind: 'redirect', to: '/' }))],
};

test('an action is logged with what it was about, and nothing that was typed', async () => {
  const server = await ConsoleServer.open({ pages: [PAGE] });
  try {
    const { cookie, formToken } = await server.enter();
    const fields = { form_token: formToken, remark: 'Joana Prado' };
    const path = '/webhooks/w-1/events/e-1/resend';
    expect((await server.post(path, fields, { cookie })).status).toBe(303);
    const lines = server.logger.lines.filter((line) =>
      JSON.stringify(line).includes('an action of the console'),
    );
    expect(lines).toHaveLength(1);
    const line = JSON.stringify(lines[0]);
    for (const part of ['"webhook":"w-1"', '"event":"e-1"', '"operator":"maria.souza"'])
      expect(line).toContain(part);
    expect(line).not.toMatch(/Joana|form_token/);
  } finally {
    await server.close();
  }
});

test('a decision is logged with its operation and what became of it, and without what was remarked', async () => {
  const running = await RunningService.start();
  try {
    const ids = { decision_id: 'd-1', application_id: 'acme', originator_proposal_code: 'OP-1' };
    const text = JSON.stringify({ ...ids, decision: 'approve', note: 'Joana Prado' });
    const { parts } = running.service;
    const record = () => Promise.resolve();
    const visit = { operator: 'maria.souza', logger: parts.logger, record };
    await decideAll([text], visit, parts);
    const [line] = running.logger.lines.filter(({ message }) => message === 'a decision of the console');
    const what = { ...ids, decision: 'approve', operator: 'maria.souza', outcome: 'refused' };
    expect(line!.fields).toEqual({ ...what, reason: 'loan_not_found' });
  } finally {
    await running.stop();
  }
});
