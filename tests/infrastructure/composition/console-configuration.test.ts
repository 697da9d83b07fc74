import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import {
  readConsoleConfiguration,
  refuseOpenConsole,
} from '../../../infrastructure/composition/console-configuration.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

type Variables = Readonly<Record<string, string>>;

const SIGN_IN = {
  CONSOLE_PUBLIC_URL: 'https://desk.example',
  CONSOLE_OIDC_ISSUER: 'https://login.example/realms/fund',
  CONSOLE_OIDC_CLIENT_ID: 'desk',
};
const FUND = '3f0c1e52-8a44-4b8e-9d64-0b7f6f1c2a10';
const OTHER = '9b1c1e52-8a44-4b8e-9d64-0b7f6f1c2a11';

const refusal = (variables: Variables): string => {
  try {
    readConsoleConfiguration(variables);
    return 'none';
  } catch (error) {
    return (error as Error).message;
  }
};

describe('the settings of the console', () => {
  test('are none where none is set', () => {
    expect(readConsoleConfiguration({})).toEqual({
      publicUrl: undefined,
      signIn: undefined,
      metrics: undefined,
      mayBeOpen: false,
    });
  });

  test('serve metrics where people sign in and a port is named', () => {
    const metricsOf = (variables: Variables) => readConsoleConfiguration(variables).metrics;
    expect(metricsOf(SIGN_IN)).toBeUndefined();
    expect(metricsOf({ METRICS_PORT: '9465' })).toBeUndefined();
    expect(metricsOf({ ...SIGN_IN, METRICS_PORT: 'off' })).toBeUndefined();
    expect(metricsOf({ ...SIGN_IN, METRICS_PORT: '9465' })).toEqual({ host: '127.0.0.1', port: 9465 });
    expect(refusal({ ...SIGN_IN, METRICS_PORT: '0' })).toMatch(/^METRICS_PORT /);
  });

  test('say where people sign in, and what that makes of them', () => {
    const roles = `maker=desk, checker=desk-check@${FUND.toUpperCase()}+${OTHER}+${FUND},viewer=cn=all`;
    expect(
      readConsoleConfiguration({
        ...SIGN_IN,
        CONSOLE_PUBLIC_URL: 'https://Desk.example/',
        CONSOLE_OIDC_CLIENT_SECRET: 's',
        CONSOLE_OIDC_ROLES_CLAIM: 'realm_access.roles',
        CONSOLE_OIDC_ROLES: roles,
      }),
    ).toEqual({
      publicUrl: 'https://desk.example',
      mayBeOpen: false,
      signIn: {
        issuer: 'https://login.example/realms/fund',
        clientId: 'desk',
        clientSecret: 's',
        roles: {
          claim: 'realm_access.roles',
          rules: [
            { role: 'maker', value: 'desk' },
            { role: 'checker', value: 'desk-check', funds: [FUND, OTHER] },
            { role: 'viewer', value: 'cn=all' },
          ],
        },
      },
    });
    expect(readConsoleConfiguration(SIGN_IN).signIn).toMatchObject({
      clientSecret: undefined,
      roles: { claim: 'roles', rules: [] },
    });
  });

  test('take the secret from a file', async () => {
    const directory = temporaryDirectory();
    const file = join(directory, 'secret');
    writeFileSync(file, 'from a file\n');
    const variables = { ...SIGN_IN, CONSOLE_OIDC_CLIENT_SECRET_FILE: file };
    expect(readConsoleConfiguration(variables).signIn?.clientSecret).toBe('from a file');
    expect(refusal({ ...variables, CONSOLE_OIDC_CLIENT_SECRET: 'hidden' })).toBe(
      'CONSOLE_OIDC_CLIENT_SECRET must not be set beside CONSOLE_OIDC_CLIENT_SECRET_FILE: keep one of them',
    );
    writeFileSync(file, '\n');
    expect(refusal(variables)).toMatch(/^CONSOLE_OIDC_CLIENT_SECRET_FILE must be a file/);
  });

  test.each<[Variables]>([
    [{ ...SIGN_IN, CONSOLE_PUBLIC_URL: 'http://localhost:4200' }],
    [{ ...SIGN_IN, CONSOLE_PUBLIC_URL: 'http://127.0.0.1:4200' }],
    [{ ...SIGN_IN, CONSOLE_PUBLIC_URL: 'http://desk.example', ALLOW_INSECURE: 'files, console' }],
    [{ ...SIGN_IN, CONSOLE_OIDC_ISSUER: 'http://localhost:8080' }],
    [{ CONSOLE_PUBLIC_URL: 'http://localhost:4200' }],
    [{ CONSOLE_PUBLIC_URL: 'https://desk.example', ALLOW_INSECURE: 'console' }],
  ])('may be %j', (variables) => {
    expect(refusal(variables)).toBe('none');
  });

  test.each<[string, Variables]>([
    ['CONSOLE_OIDC_CLIENT_ID', { ...SIGN_IN, CONSOLE_OIDC_CLIENT_ID: ' ' }],
    ['CONSOLE_OIDC_CLIENT_ID', { ...SIGN_IN, CONSOLE_OIDC_ISSUER: '' }],
    ['CONSOLE_PUBLIC_URL', { ...SIGN_IN, CONSOLE_PUBLIC_URL: '' }],
    ['CONSOLE_PUBLIC_URL', { ...SIGN_IN, CONSOLE_PUBLIC_URL: 'http://desk.example' }],
    [
      'CONSOLE_PUBLIC_URL',
      { ...SIGN_IN, CONSOLE_PUBLIC_URL: 'http://desk.example', ALLOW_INSECURE: 'files' },
    ],
    ['CONSOLE_PUBLIC_URL', { ...SIGN_IN, CONSOLE_PUBLIC_URL: 'https://desk.example/console' }],
    ['CONSOLE_PUBLIC_URL', { ...SIGN_IN, CONSOLE_PUBLIC_URL: 'https://desk.example/?a' }],
    ['CONSOLE_PUBLIC_URL', { ...SIGN_IN, CONSOLE_PUBLIC_URL: 'desk.example' }],
    ['CONSOLE_PUBLIC_URL', { CONSOLE_PUBLIC_URL: 'https://desk.example' }],
    ['CONSOLE_OIDC_ISSUER', { ...SIGN_IN, CONSOLE_OIDC_ISSUER: 'http://login.example' }],
    [
      'CONSOLE_OIDC_ISSUER',
      { ...SIGN_IN, CONSOLE_OIDC_ISSUER: 'http://login.example', ALLOW_INSECURE: 'console' },
    ],
    ['CONSOLE_OIDC_ISSUER', { ...SIGN_IN, CONSOLE_OIDC_ISSUER: 'https://a:b@login.example' }],
    ['CONSOLE_OIDC_CLIENT_SECRET_FILE', { ...SIGN_IN, CONSOLE_OIDC_CLIENT_SECRET_FILE: '/nothing/here' }],
    ['CONSOLE_OIDC_CLIENT_SECRET', { CONSOLE_OIDC_CLIENT_SECRET: 'hidden' }],
    ['CONSOLE_OIDC_ROLES_CLAIM', { CONSOLE_OIDC_ROLES_CLAIM: 'roles' }],
    ['CONSOLE_OIDC_ROLES', { CONSOLE_OIDC_ROLES: 'maker=desk' }],
    ['CONSOLE_OIDC_ROLES_CLAIM', { ...SIGN_IN, CONSOLE_OIDC_ROLES_CLAIM: 'a..b' }],
    ...[
      'owner=desk',
      'maker',
      'maker=',
      'maker=desk,',
      'Maker=desk',
      '=desk',
      'maker=@',
      `maker=@${FUND}`,
    ].map((roles): [string, Variables] => ['CONSOLE_OIDC_ROLES', { ...SIGN_IN, CONSOLE_OIDC_ROLES: roles }]),
    ...['maker=desk@', 'maker=desk@Fundo Aurora', `maker=desk@${FUND}+`, `maker=desk@${FUND};${OTHER}`].map(
      (roles): [string, Variables] => ['CONSOLE_OIDC_ROLES', { ...SIGN_IN, CONSOLE_OIDC_ROLES: roles }],
    ),
    ['ALLOW_INSECURE', { ALLOW_INSECURE: 'consoles' }],
  ])('are refused in one line that names %s: %j', (variable, variables) => {
    const message = refusal(variables);
    expect(message).toMatch(new RegExp(`^${variable} [^\n]+$`));
    expect(message).not.toContain('hidden');
  });
});

describe('the command line of the console', () => {
  const refused = (variables: Variables, given: { readonly host: string; readonly operator?: string }) => {
    try {
      refuseOpenConsole(readConsoleConfiguration(variables), given);
      return 'none';
    } catch (error) {
      return `${(error as Error).name}: ${(error as Error).message}`;
    }
  };

  test('lets other machines in with sign-in alone, or on the word of its operator', () => {
    for (const host of ['127.0.0.1', '127.0.0.2', 'localhost', '::1'])
      expect(refused({}, { host })).toBe('none');
    for (const host of ['0.0.0.0', '::', '192.0.2.1', 'desk.example', '127.0.0.1.example']) {
      expect(refused({}, { host })).toMatch(
        /^WrongUseError: --host .* CONSOLE_OIDC_ISSUER.* ALLOW_INSECURE$/,
      );
      expect(refused({ ALLOW_INSECURE: 'console' }, { host })).toBe('none');
      expect(refused(SIGN_IN, { host })).toBe('none');
    }
  });

  test('names nobody where people sign in', () => {
    const given = { host: '127.0.0.1', operator: 'maria' };
    expect(refused(SIGN_IN, given)).toMatch(/^WrongUseError: --operator /);
    expect(refused({}, given)).toBe('none');
  });
});
