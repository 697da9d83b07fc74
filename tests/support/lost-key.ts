import { expect } from '@jest/globals';
import type { ApiClient } from './api-client.ts';
import type { ServiceProcess } from './service-process.ts';

/** Of the borrower in `loanRequest`. */
const DOCUMENT = '52998224725';

/** What a command printed, whatever it ended with. */
export const printedBy = async (service: ServiceProcess, ...args: readonly string[]) => {
  try {
    return { code: 0, out: await service.receivables(...args), err: '' };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, out: stdout, err: stderr };
  }
};

/**
 * An operation whose key is there is not given up; once key and index entry are lost, it reads as a fault, is given up by its code, and
 * reads as forgotten from then on.
 * @param lose takes both away, while the service is down
 */
export const givesUpLostKey = async (
  service: ServiceProcess,
  { api, code }: { readonly api: ApiClient; readonly code: string },
  lose: () => Promise<void> | void,
): Promise<void> => {
  const giveUp = [
    'borrower',
    'forget',
    '--lost-key',
    code,
    '--yes',
    '--including-open',
    '--reason',
    'key lost',
  ];
  const refused = await printedBy(service, ...giveUp);
  expect([refused.code, refused.out, refused.err]).toEqual([3, '', expect.stringContaining('--document')]);
  await service.end('SIGTERM');
  await lose();
  await service.start();
  await service.printed('"event":"keys_lost"');
  expect((await api.call('GET', `/loan/${code}`)).status).toBe(500);
  // The entry that finds it by the borrower is gone too.
  const forgetting = ['borrower', 'forget', '--document', DOCUMENT, '--yes', '--including-open'];
  expect(JSON.parse((await printedBy(service, ...forgetting)).out)).toMatchObject({ operations: [] });
  // Without a person to ask; what is done about a lost key is no new alarm.
  const unanswered = await printedBy(service, ...giveUp.filter((word) => word !== '--yes'));
  expect([unanswered.code, unanswered.err.includes('key_missing')]).toEqual([2, false]);
  for (const _ of ['first', 'again']) {
    const { code: exit, out } = await printedBy(service, ...giveUp);
    expect([exit, JSON.parse(out)]).toMatchObject([0, { forgotten: 1, left_open: 0 }]);
  }
  const { status, body } = await api.call('GET', `/loan/${code}`);
  expect([status, body]).toMatchObject([200, { borrower: null, documents: [{ value: null }] }]);
  expect((await printedBy(service, 'doctor')).out).toContain('"check":"operation_keys","state":"ok"');
  const shown = (await printedBy(service, 'audit', 'show', code)).out;
  expect(shown.match(/loan\.borrower_forgotten\.v1/g)).toHaveLength(1);
  expect(shown).not.toContain('key missing');
  expect((await printedBy(service, 'audit', 'verify')).code).toBe(0);
};
