import { beforeEach, describe, expect, test } from '@jest/globals';
import { Clients } from '../../../application/clients/clients.ts';
import type { App } from '../../../application/app.ts';
import { NotAllowedError, WrongUseError } from '../../../infrastructure/cli/command-line.ts';
import { runProgram } from '../../../infrastructure/cli/program.ts';
import { fundsOver } from '../../support/funds-over.ts';
import { InMemoryClientRegistry } from '../../support/in-memory-client-registry.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { ALONE } from '../../support/application-parts.ts';
import { NOTHING, maintaining } from '../../support/command-line.ts';
import { UNHEEDING } from '../../support/desk-over.ts';

const FUND = '3f0c1e52-8a44-4b8e-9d64-0b7f6f1c2a10';
const OTHER_FUND = '9f0c1e52-8a44-4b8e-9d64-0b7f6f1c2a10';

describe('command line', () => {
  let registry: InMemoryClientRegistry;
  let opened = 0;
  let closed = 0;
  let failure: Error | undefined;
  beforeEach(() => {
    registry = new InMemoryClientRegistry();
    opened = closed = 0;
    failure = undefined;
  });

  const run = async (...args: string[]) => {
    let out = '';
    let err = '';
    const clock = new ManualClock('2026-01-15T12:00:00.000Z');
    const issue = async () => ({ clientId: 'client_1', clientSecret: 'rfs_secret', secretHash: 'hash' });
    const code = await runProgram(args, {
      ...NOTHING,
      open: async () => {
        if (failure !== undefined) throw failure;
        opened += 1;
        return {
          app: {
            ...({} as App),
            desk: UNHEEDING as App['desk'],
            funds: fundsOver({}),
            clients: new Clients({
              ...{ registry, issue, clock, formats: ALONE },
              signingKeys: {
                rotate: async () => ({ kid: 'k2', activeFrom: Date.UTC(2026, 0, 15, 12, 1) }),
                revoke: async (kid) => ({ kid, successor: 'k2' }),
              },
            }),
            ...maintaining({
              rotateMasterKey: async () => ({ from: 'a', to: 'b', rewrapped: 7, already: 0 }),
            }),
            webhooks: undefined as never,
          },
          close: async () => {
            closed += 1;
          },
        };
      },
      write: (text) => (out += text),
      writeError: (text) => (err += text),
    });
    return { code, out, err };
  };

  test('client create prints one JSON object and nothing else', async () => {
    const args = ['--name', 'Acme', '--fund', FUND, '--fund', OTHER_FUND, '--application', 'acme'];
    const { code, out, err } = await run('client', 'create', ...args, '--rate-limit-multiplier', '2.5');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out.split('\n')).toHaveLength(2);
    expect(JSON.parse(out)).toEqual({
      client_id: 'client_1',
      client_secret: 'rfs_secret',
      application_id: 'acme',
      fund_ids: [FUND, OTHER_FUND],
    });
    expect(registry.clients.get('client_1')?.rateLimitMultiplier).toBe(2.5);
    expect([opened, closed]).toEqual([1, 1]);
  });

  test('client create limits a client to scopes and to funds of its application, and client list shows both', async () => {
    await run(
      'client',
      'create',
      '--name',
      'All',
      '--fund',
      FUND,
      '--fund',
      OTHER_FUND,
      '--application',
      'acme',
    );
    const limited = [
      'client',
      'create',
      '--name',
      'Some',
      '--application',
      'acme',
      '--only-fund',
      OTHER_FUND,
    ];
    const { code, out } = await run(...limited, '--scope', 'loans:read', '--scope', 'events');
    expect([code, JSON.parse(out)]).toEqual([
      0,
      {
        client_id: 'client_1',
        client_secret: 'rfs_secret',
        application_id: 'acme',
        fund_ids: [FUND, OTHER_FUND],
        scopes: ['loans:read', 'events'],
        only_fund_ids: [OTHER_FUND],
      },
    ]);
    expect(JSON.parse((await run('client', 'list')).out)).toMatchObject({
      only_fund_ids: [OTHER_FUND],
      scopes: ['loans:read', 'events'],
    });
    await run(...limited);
    expect(JSON.parse((await run('client', 'list')).out)).toMatchObject({
      only_fund_ids: [OTHER_FUND],
      scopes: ['loans:write', 'loans:read', 'events'],
    });
    const another = '1f0c1e52-8a44-4b8e-9d64-0b7f6f1c2a10';
    expect(await run(...limited, '--only-fund', another)).toMatchObject({
      code: 3,
      err: `error: only-fund ${another} is not linked to the application\n`,
    });
    expect((await run(...limited, '--scope', 'webhooks')).code).toBe(2);
    expect((await run(...limited, '--scope', 'everything')).code).toBe(2);
  });

  test('client list prints every client without its secret', async () => {
    await run('client', 'create', '--name', 'Acme', '--fund', FUND, '--application', 'acme');
    const { out } = await run('client', 'list');
    expect(JSON.parse(out)).toEqual({
      client_id: 'client_1',
      application_id: 'acme',
      name: 'Acme',
      fund_ids: [FUND],
      only_fund_ids: null,
      scopes: ['loans:write', 'loans:read', 'webhooks'],
      rate_limit_multiplier: 1,
      created_at: '2026-01-15T12:00:00.000Z',
      revoked_at: null,
    });
  });

  test('what others chose does nothing to the terminal, in answers and in errors', async () => {
    await run('client', 'create', '--name', 'Acme \u202e\u2066', '--fund', FUND);
    const { out } = await run('client', 'list');
    expect(out).toContain('Acme \\u202e\\u2066');
    expect(JSON.parse(out).name).toBe('Acme \u202e\u2066');
    const { err } = await run('client', 'revoke', 'x\u001b[2K\u009b');
    expect(err).toBe('error: no client x\\u001b[2K\\u009b that is not revoked yet\n');
  });

  test('client revoke prints when; a second time fails on standard error only', async () => {
    await run('client', 'create', '--name', 'Acme', '--fund', FUND);
    const first = await run('client', 'revoke', 'client_1');
    expect(JSON.parse(first.out)).toEqual({ client_id: 'client_1', revoked_at: '2026-01-15T12:00:00.000Z' });
    const second = await run('client', 'revoke', 'client_1');
    expect(second).toEqual({ code: 3, out: '', err: 'error: no client client_1 that is not revoked yet\n' });
    expect([opened, closed]).toEqual([3, 3]);
  });

  test('keys revoke prints what signs from now on; an unknown key ends with 3', async () => {
    expect(await run('keys', 'revoke', 'k1')).toMatchObject({
      code: 0,
      out: '{"kid":"k1","successor":"k2"}\n',
    });
    failure = new NotAllowedError('no signing key has the id k9');
    expect(await run('keys', 'revoke', 'k9')).toMatchObject({
      code: 3,
      err: 'error: no signing key has the id k9\n',
    });
  });

  test('keys rotate-master prints what was done; without both keys it ends as wrong use', async () => {
    expect(JSON.parse((await run('keys', 'rotate-master')).out)).toEqual({
      from: 'a',
      to: 'b',
      rewrapped: 7,
      already: 0,
    });
    failure = new WrongUseError('set MASTER_KEY_PREVIOUS');
    expect(await run('keys', 'rotate-master')).toMatchObject({
      code: 2,
      err: 'error: set MASTER_KEY_PREVIOUS\n',
    });
  });

  test('keys rotate prints the new key and when it takes over', async () => {
    const { out } = await run('keys', 'rotate');
    expect(JSON.parse(out)).toEqual({ kid: 'k2', active_from: '2026-01-15T12:01:00.000Z' });
  });

  test.each([
    [[]],
    [['client']],
    [['keys']],
    [['unknown']],
    [['client', 'unknown']],
    [['client', 'create']],
    [['client', 'create', '--name', 'Acme']],
    [['client', 'create', '--fund', FUND]],
    [['client', 'create', '--name', 'Acme', '--fund']],
    [['client', 'create', '--name', 'Acme', '--fund', FUND, '--rate-limit-multiplier', '-1']],
    [['client', 'create', '--name', 'Acme', '--fund', FUND, '--rate-limit-multiplier', 'many']],
    [['client', 'create', '--name', 'Acme', '--fund', FUND, '--unknown']],
    [['client', 'create', '--name', 'Acme', '--fund', FUND, 'extra']],
    [['client', 'revoke']],
  ])('wrong use %j: exit code 2, a reason on standard error, nothing is opened', async (args) => {
    const { code, out, err } = await run(...args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).not.toBe('');
    expect(opened).toBe(0);
  });

  test('a fund that is no UUID is wrong use', async () => {
    const { code, out, err } = await run('client', 'create', '--name', 'Acme', '--fund', 'fund-1');
    expect([code, out, err]).toEqual([2, '', expect.stringContaining('no fund has the name "fund-1"')]);
    expect(closed).toBe(1);
  });

  test('a store that cannot be opened is a failure', async () => {
    failure = new Error('database is locked');
    expect(await run('client', 'list')).toEqual({ code: 1, out: '', err: 'error: database is locked\n' });
  });
});
