import { expect, test } from '@jest/globals';
import type { App } from '../../../application/app.ts';
import { loanStream } from '../../../application/command-handling/operation.ts';
import type {
  QuarantinedOperation,
  Release,
} from '../../../application/maintenance/quarantine/quarantined-operations.ts';
import { commandLine, maintaining } from '../../support/command-line.ts';

const ID = '0b6f3a52-1111-4b8e-9d64-0b7f6f1c2a10';
const [operation, renegotiation] = [loanStream('app-1', 'OP/1'), `renegotiation-${ID}`];
const event = { revision: 1n, eventType: 'renegotiation.committed.v2', waitsFor: 'loan' };
const waiting: readonly QuarantinedOperation[] = [
  { ...event, stream: operation, reason: `waits with ${renegotiation}: unknown` },
  { ...event, stream: renegotiation, reason: 'unknown' },
];

/** @param outcome everything is let go with the first that is released, but for what waits apart */
const run = (outcome: Release['outcome'], ...args: readonly string[]) => runBeside('', outcome, ...args);
const runBeside = (apart: string, outcome: Release['outcome'], ...args: readonly string[]) => {
  const released: string[] = [];
  const release = async (stream: string): Promise<readonly Release[]> => {
    released.push(stream);
    const together = waiting.map((one) => one.stream).filter((one) => one !== stream);
    return [{ waitsFor: 'loan', outcome, together, ...(outcome === 'still_waits' && { reason: 'unknown' }) }];
  };
  const isThere = ({ stream }: QuarantinedOperation): boolean =>
    outcome === 'still_waits' || released.length === 0 || stream === apart;
  const list = async () => waiting.filter(isThere);
  const waits = async (stream: string) => (await list()).some((one) => one.stream === stream);
  const quarantine = { list, waits, release };
  return commandLine(() => maintaining({ quarantine }))('quarantine', ...args).then((result) => ({
    ...result,
    released,
  }));
};

test('a renegotiation is listed with its id, and the operations that wait with it with their codes', async () => {
  expect((await run('released', 'list', '-o', 'json')).lines).toMatchObject([
    {
      application_id: 'app-1',
      originator_proposal_code: 'OP/1',
      reason: `waits with ${renegotiation}: unknown`,
    },
    { event_type: 'renegotiation.committed.v2', waits_for: 'loan', renegotiation_id: ID },
  ]);
});

test('it is released by its id or by the code of one of its operations, and what came with it is named', async () => {
  const byId = await run('released', 'release', ID);
  expect([byId.code, byId.released]).toEqual([0, [renegotiation]]);
  expect(JSON.parse(byId.out)).toEqual({
    renegotiation_id: ID,
    releases: [{ waits_for: 'loan', outcome: 'released', together: ['OP/1'] }],
  });
  const byCode = await run('still_waits', 'release', 'OP/1');
  expect([byCode.code, byCode.released]).toEqual([1, [operation]]);
  expect(JSON.parse(byCode.out).releases).toMatchObject([{ outcome: 'still_waits', together: [ID] }]);
  expect((await run('released', 'release', 'OP/2')).code).toBe(3);
});

test('all that waits is released one after another: what came with another only where it waits on', async () => {
  const all = await run('released', 'release', '--all');
  expect([all.code, all.released]).toEqual([0, [operation]]);
  expect(all.lines).toEqual([
    {
      originator_proposal_code: 'OP/1',
      releases: [{ waits_for: 'loan', outcome: 'released', together: [ID] }],
    },
  ]);
  const apart = await runBeside(renegotiation, 'released', 'release', '--all');
  expect([apart.code, apart.released]).toEqual([0, [operation, renegotiation]]);
  const still = await run('still_waits', 'release', '--all');
  expect([still.code, still.released]).toEqual([1, [operation, renegotiation]]);
  expect(still.lines).toHaveLength(2);
  expect(still.err).toContain('OP/1 goes on waiting: unknown; so do 1 more');
});

test('either a code or all is named', async () => {
  for (const args of [[], ['OP/1', '--all']]) {
    const { code, err, released } = await run('released', 'release', ...args);
    expect([code, released]).toEqual([2, []]);
    expect(err).toContain('name one code, or give --all instead');
  }
});

test('of many operations of several applications, all are released or those of one; what waits is listed once', async () => {
  const applications = ['app-1', 'app-2', 'app-3'];
  const entries = applications.flatMap((one) =>
    Array.from({ length: 50 }, (_, n) => ({
      ...event,
      stream: loanStream(one, `OP-${n}`),
      reason: 'unknown',
    })),
  );
  const releasedBy = async (...args: readonly string[]) => {
    const released: string[] = [];
    let lists = 0;
    const quarantine = {
      list: async () => {
        lists += 1;
        return entries;
      },
      release: async (stream: string): Promise<readonly Release[]> => {
        released.push(stream);
        return [{ waitsFor: 'loan', outcome: 'released' }];
      },
    };
    const clients = {
      list: async () => applications.map((applicationId) => ({ applicationId, name: 'a' })),
    } as unknown as App['clients'];
    const services = { ...maintaining({ quarantine }), clients };
    const { code, lines } = await commandLine(() => services)('quarantine', 'release', ...args);
    expect([code, lines.length, lists]).toEqual([0, released.length, 1]);
    return released;
  };
  expect(await releasedBy('--all')).toEqual(entries.map(({ stream }) => stream));
  expect(await releasedBy('--all', '--application', 'app-2')).toEqual(
    entries.slice(50, 100).map(({ stream }) => stream),
  );
  expect(await releasedBy('OP-7', '--application', 'app-3')).toEqual([loanStream('app-3', 'OP-7')]);
});
