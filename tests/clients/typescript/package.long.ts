import { execFile } from 'node:child_process';
import { copyFile, mkdir, readFile, readdir, symlink, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { API_VERSION } from '../../../infrastructure/http/openapi/version.ts';
import { authority } from '../../support/certificates.ts';
import { EXPECTED, documentedCode, receive } from '../../support/documented-receiver.ts';
import { RunningService } from '../../support/running-service.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const ROOT = join(import.meta.dirname, '../../..');
const PACKAGE = join(ROOT, 'clients/typescript');
const FUND = '6f1c2f0e-8f57-4f0e-9d5e-3a8a0f6f2b11';
const PATIENCE_MS = 240_000;
const README = '../clients/typescript/README.md';
/** Of the page, in the order in which it is read. */
const SAMPLES = ['first.ts', 'receiver.ts', 'recover.ts'];

const run = promisify(execFile);

/** What a shell has that belongs to nobody's project: no variable of npm, no program of the root in the path. */
const plain = {
  npm_config_update_notifier: 'false',
  PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
  HOME: process.env['HOME'],
};

const folder = temporaryDirectory();
let running: RunningService;
/** What the compiler says of the stranger's programs. */
let programs: string;
let tls: { readonly TLS_KEY: string; readonly TLS_CERT: string };

const inFolder = (name: string): string => join(folder, name);

/** What a strict compiler of the stranger says; JavaScript goes into `compiled`. */
const compiled = async (files: readonly string[], options: object): Promise<string> => {
  const compilerOptions = {
    ...{ target: 'es2022', module: 'nodenext', strict: true, outDir: 'compiled', skipLibCheck: false },
    ...{ noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true, ...options },
  };
  await writeFile(inFolder('tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
  const said = await run(process.execPath, [compiler, '-p', folder]).catch(
    (error: { stdout: string }) => error,
  );
  return said.stdout;
};

beforeAll(async () => {
  await run('npm', ['pack', '--pack-destination', folder], { cwd: PACKAGE, env: plain });
  await writeFile(inFolder('package.json'), '{ "type": "module" }');
  const [tarball] = (await readdir(folder)).filter((name) => name.endsWith('.tgz'));
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', `./${tarball}`], {
    cwd: folder,
    env: plain,
  });
  await copyFile(join(import.meta.dirname, 'stranger/life.ts'), inFolder('life.ts'));
  for (const name of SAMPLES) await writeFile(inFolder(name), documentedCode(README, name));
  await mkdir(inFolder('types'));
  await symlink(join(ROOT, 'node_modules/@types/node'), inFolder('types/node'));
  const types = { types: ['node'], typeRoots: ['types'], lib: ['es2023'] };
  programs = await compiled(['life.ts', ...SAMPLES], types);
  const ca = await authority();
  const { key, cert } = await ca.leaf();
  tls = { TLS_KEY: inFolder('key.pem'), TLS_CERT: inFolder('cert.pem') };
  await writeFile(tls.TLS_KEY, key);
  await writeFile(tls.TLS_CERT, cert);
  await writeFile(inFolder('ca.pem'), ca.caPem);
  running = await RunningService.start({
    WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true',
    WEBHOOK_CA_FILE: inFolder('ca.pem'),
    WEBHOOK_RETRY_SCHEDULE: '20ms',
  });
}, PATIENCE_MS);
afterAll(() => running?.stop());

/** Of a client of an application of its own, for a program of the stranger. */
const surroundings = async (): Promise<Record<string, string>> => {
  const { client_id, client_secret } = await running.createClient(FUND);
  return { BASE: running.baseUrl, CLIENT_ID: client_id, CLIENT_SECRET: client_secret, FUND, ...tls };
};

describe('the package', () => {
  test('carries the version of the description, its licence, its types, and needs nothing else', async () => {
    const installed = inFolder('node_modules/receivables-fund');
    const { version, dependencies, license } = JSON.parse(
      await readFile(join(installed, 'package.json'), 'utf8'),
    );
    expect([version, dependencies, license]).toEqual([API_VERSION, undefined, 'Apache-2.0']);
    expect(await readFile(join(installed, 'LICENSE'), 'utf8')).toBe(
      await readFile(join(ROOT, 'LICENSE'), 'utf8'),
    );
    expect((await readdir(inFolder('node_modules'))).filter((name) => !name.startsWith('.'))).toEqual([
      'receivables-fund',
    ]);
    const names = await readdir(installed, { recursive: true });
    expect(names.filter((name) => /(?<!\.d)\.ts$/.test(name))).toEqual([]);
  });

  test('is understood by a strict compiler with the types of Node.js', () => {
    expect(programs).toBe('');
  });

  test(
    'is understood by a strict compiler with those of a browser',
    async () => {
      await writeFile(inFolder('only.ts'), "export * from 'receivables-fund';\n");
      expect(await compiled(['only.ts'], { types: [], lib: ['es2023', 'dom', 'dom.iterable'] })).toBe('');
    },
    PATIENCE_MS,
  );
});

test(
  'a stranger lives a whole life with it, loses an answer and a receiver, and ends with one settlement of each',
  async () => {
    // On the machine's own Node.js, which may be the oldest that the package is for.
    const { stdout } = await run('node', ['compiled/life.js'], {
      cwd: folder,
      env: { ...plain, ...(await surroundings()) },
      timeout: PATIENCE_MS,
    });
    expect(JSON.parse(stdout)).toEqual({
      version: API_VERSION,
      statuses: [
        ...[
          'quoted',
          'received',
          'received',
          'received',
          'received',
          'rejected',
          'quoted',
          'settled',
          'settled',
        ],
        ...['prepayment_processed', 'repurchase_pending', 'renegotiated'],
      ],
      stored: '%PDF-1.4\n%%EOF\n',
      lost: [
        ['lost', false],
        [200, true],
      ],
      refused: [409, 'installment_already_closed', 'another', false],
      settlements: 1,
      batch: [200, 400],
      received_value: 1850.15, // 950, and what the rest was worth on the day of the prepayment
      missed: [
        ...['disbursement_completed', 'installment_prepaid', 'installment_settled', 'loan_approved'],
        ...['loan_fully_settled', 'loan_received', 'loan_term_signed', 'renegotiation_completed'],
        ...['repurchase_completed', 'repurchase_received'],
      ],
      recovered: true,
      redelivered: ['completed', 0],
      followed: 'loan_received',
      signed: [['renegotiation_signature', 15]],
      managed: ['paused', 'active', 'loan_received'],
      report: [true, 1],
      closed: 'operation_invalid_state',
      loans: ['LIFE-1', 'LIFE-2', 'LIFE-3'],
      clock: 3600,
      forgeries: 0,
      renewed: true,
      subscriptions: 0,
    });
  },
  PATIENCE_MS,
);

test(
  'what its page shows runs as it stands, one after the other',
  async () => {
    const env = { ...plain, ...(await surroundings()) };
    const { stdout } = await run('sh', ['-eu', '-c', documentedCode(README, 'run.sh')], {
      cwd: folder,
      env: {
        ...env,
        PATH: `${dirname(process.execPath)}${delimiter}${plain.PATH}`,
        RECEIVER: 'https://localhost:1/hooks',
      },
      timeout: PATIENCE_MS,
    });
    expect(stdout).toBe('quoted settled settled true true\n001 1000\ncompleted\n');
    expect(await receive([process.execPath, 'receiver.ts'], folder)).toEqual(EXPECTED);
  },
  PATIENCE_MS,
);
