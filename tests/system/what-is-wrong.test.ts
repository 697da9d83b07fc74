import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { loanStream } from '../../application/command-handling/operation.ts';
import type { JsonText } from '../../application/ports/event-store.ts';
import { examine } from '../../infrastructure/composition/maintenance/doctor.ts';
import { service as foundService } from '../../infrastructure/composition/maintenance/doctor-findings.ts';
import { deskOf } from '../../application/desk-view/desk-of.ts';
import { personWith } from '../infrastructure/console/desk-world.ts';
import { sampleMetadata } from '../contracts/event-store-samples.ts';
import { loanRequest } from '../support/api-client.ts';
import type { ApiClient } from '../support/api-client.ts';
import { commandLine } from '../support/command-line.ts';
import { ConsoleServer } from '../support/console-server.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { RunningService } from '../support/running-service.ts';
import { within } from '../support/within.ts';

let service: RunningService;
let server: ConsoleServer;
let application: string;
let api: ApiClient;

/** BAD has an event that a later release stored; everything else is as it should be. */
beforeAll(async () => {
  service = await RunningService.start();
  const { parts } = service.service;
  const { clients, desk, eventStore, maintenance } = parts;
  api = await service.client();
  for (const code of ['BAD', 'GOOD']) {
    expect((await api.assign(loanRequest(api.fund, code, 2))).status).toBe(201);
    await api.untilStatus(code, 'active');
  }
  [application] = (await clients.applications()) as [string];
  const stream = loanStream(application, 'BAD');
  const metadata = sampleMetadata({ applicationId: application });
  const event = { id: randomUUID(), type: 'loan.something_new.v1', data: '{}' as JsonText, metadata };
  await eventStore.append(stream, await eventStore.head(stream), [event]);
  await within('the read model and the relay have met it', 30_000, async () => {
    const [entries, { followers }] = [await maintenance.quarantine.list(), await maintenance.lag()];
    return entries.length === 2 && followers.every(({ behind }) => behind === 0);
  });
  server = await ConsoleServer.open({ service: parts, desk });
});
afterAll(async () => {
  await server?.close();
  await service?.stop();
});

const shown = async (path: string): Promise<readonly [status: number, text: string]> => {
  const { cookie } = await server.enter();
  const { status, text } = await server.ask(path, { headers: { cookie, 'accept-language': 'en' } });
  return [status, text.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ')];
};
const run = (...args: readonly string[]) => commandLine(() => service.service.parts)(...args);

test('doctor, status and the console tell of the same operation, and none says that all is taken in', async () => {
  const { dataDir } = service.service.parts.configuration;
  const findings = await examine({ DATA_DIR: dataDir }, () => new RecordingLogger());
  expect(findings.filter(({ check }) => check === 'quarantine')).toEqual([
    {
      check: 'quarantine',
      state: 'warning',
      detail: `1 of operations and renegotiations wait, such as ${loanStream(application, 'BAD')}: see receivables quarantine list`,
    },
  ]);
  expect((await run('status', '-o', 'json')).lines).toMatchObject([{ quarantined: 1 }]);
  const [, card] = await shown('/today/service');
  expect(card).toContain('In quarantine: 1.');
  expect(card).not.toContain('All that was recorded');
});

test('doctor tells of a role that no process has taken, as the console does', () => {
  const looked = (state: string) => ({
    ...{ place: 'these engines', found: 'process 7 on host' },
    roles: [{ role: 'relay', state, holder: null }],
  });
  expect(foundService(looked('running'))).toEqual({ state: 'ok', detail: 'process 7 on host' });
  expect(foundService(looked('nobody'))).toEqual({
    state: 'warning',
    detail: 'process 7 on host, and no process has taken the role relay: start one that has it',
  });
  expect(foundService({ ...looked('nobody'), found: null })).toMatchObject({ state: 'failed' });
});

test('lists and reports of the console say that not all is in them, as those of the command line do', async () => {
  const says =
    'Not all is in it: 1 in quarantine, as they were before an event that could not be read (BAD).';
  for (const path of ['/operations', `/portfolio/position?fund=${api.fund}`])
    expect(await shown(path)).toEqual([200, expect.stringContaining(says)]);
  const held = `/portfolio/operations?fund=${api.fund}&by=late&value=0`;
  expect(await shown(held)).toEqual([200, expect.stringContaining(says)]);
  const { cookie } = await server.enter();
  const nameOf = async (path: string) => {
    const { headers } = await server.ask(path, { headers: { cookie } });
    return headers['content-disposition']!.replace(/\d{4}-\d\d-\d\d/, 'DAY');
  };
  for (const [path, name] of [
    ['/operations/export', 'operations'],
    [`/portfolio/export?fund=${api.fund}`, 'portfolio'],
    [`/portfolio/composition?fund=${api.fund}`, 'portfolio-composition'],
  ] as const)
    expect(await nameOf(path)).toBe(`attachment; filename="${name}-DAY-1-in-quarantine.csv"`);
  const without = await nameOf(`/portfolio/export?fund=${randomUUID()}`);
  expect(without).toBe('attachment; filename="portfolio-DAY.csv"');
  const other = await shown(`/portfolio/position?fund=${randomUUID()}`);
  expect(other[1]).not.toContain('Not all is in it');
  const seenIn = async (fundId: string) => {
    const { loans } = deskOf(service.service.parts, personWith({ role: 'viewer', funds: [fundId] }));
    return (await loans.leftOut()).map(({ code }) => code);
  };
  expect([await seenIn(api.fund), await seenIn(randomUUID())]).toEqual([['BAD'], []]);
  expect((await run('portfolio', '--fund', api.fund)).err).toContain(
    'not all is in it: 1 operation(s) in quarantine',
  );
});

test('who asks for the operation is told why it cannot be shown', async () => {
  const { code, err } = await run('loan', 'show', 'BAD');
  expect([code, err]).toEqual([
    1,
    'error: the latest change of this operation cannot be shown: it waits in quarantine, see receivables quarantine list\n',
  ]);
  for (const [path, status, says] of [
    [`/operations/${application}/BAD`, 500, 'An event of what was asked for cannot be read'],
    [`/decisions/${application}/BAD`, 503, 'This operation waits in quarantine'],
  ] as const)
    expect(await shown(path)).toEqual([status, expect.stringContaining(says)]);
  expect((await shown(`/operations/${application}/GOOD`))[0]).toBe(200);
});

test('doctor tells of a follower that stands still, as readiness does', async () => {
  const { dataDir } = service.service.parts.configuration;
  const found = async () => {
    const findings = await examine({ DATA_DIR: dataDir }, () => new RecordingLogger());
    return findings.filter(({ check }) => check === 'followers').map(({ state, detail }) => [state, detail]);
  };
  const states = async () => new Set((await found()).map(([state]) => state));
  expect(await states()).toEqual(new Set(['ok']));
  const readModel = new DatabaseSync(join(dataDir, 'read-model-1.db'));
  readModel.exec(
    "create trigger stopped before update on projection_checkpoint begin select raise(abort, 'stopped'); end",
  );
  expect((await api.settle('GOOD', '001', 950)).status).toBe(200);
  const ready = async (): Promise<number> => (await fetch(`${service.baseUrl}/health/ready`)).status;
  await within('it is not ready', 30_000, async () => (await ready()) === 503);
  expect(await found()).toContainEqual([
    'failed',
    expect.stringMatching(/^loan stands still at \d+, \d+ events behind: the log of the service says why$/),
  ]);
  readModel.exec('drop trigger stopped');
  readModel.close();
  await within('it is ready again', 30_000, async () => (await ready()) === 200);
  expect(await states()).toEqual(new Set(['ok']));
});
