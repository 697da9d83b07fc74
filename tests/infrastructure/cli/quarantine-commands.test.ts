import { expect, test } from '@jest/globals';
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

const run = (outcome: Release['outcome'], ...args: readonly string[]) => {
  const released: string[] = [];
  const release = async (stream: string): Promise<readonly Release[]> => {
    released.push(stream);
    const together = waiting.map((one) => one.stream).filter((one) => one !== stream);
    return [{ waitsFor: 'loan', outcome, together, ...(outcome === 'still_waits' && { reason: 'unknown' }) }];
  };
  const quarantine = { list: async () => waiting, release };
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
