import { execFile } from 'node:child_process';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { API_VERSION } from '../../../infrastructure/http/openapi/version.ts';
import { authority } from '../../support/certificates.ts';
import { EXPECTED, documentedCode, receive } from '../../support/documented-receiver.ts';
import { ServiceProcess } from '../../support/service-process.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const ROOT = join(import.meta.dirname, '../../..');
const PROJECT = join(ROOT, 'clients/python');
const README = '../clients/python/README.md';
const FUND = '6f1c2f0e-8f57-4f0e-9d5e-3a8a0f6f2b11';
/** An interpreter that has what builds and checks a package; see .ci/run. */
const builder = process.env['PYTHON'] ?? 'python3';

/** What a type checker has to find. */
const MISTAKEN = `from decimal import Decimal
from receivables_fund import ApiError, Client
from receivables_fund.types import BatchedSettlement, Event, Settlement
client = Client("https://api.example.com", "id", "secret")
paid: Settlement = {"originator_proposal_code": "OP-1", "installment_code": "001", "settled_at": "2026-02-15", "settled_value": Decimal("950.00"), "payment_method": "pix"}
client.settle_instalment(paid)  # mistake
client.settle_installment({**paid, "setled_value": Decimal(950)})  # mistake
client.settle_installment({**paid, "settled_value": 950.1})  # mistake
client.settle_installment({**paid, "payment_method": "cash"})  # mistake
print(client.settle_installment(paid)["difference"])
print(client.settle_installment(paid, dry_run=True)["difference"])  # mistake
line: BatchedSettlement = {**paid}  # mistake
client.list_loans(status=["activ"])  # mistake
def happened(event: Event) -> Decimal | None:
    return event["settled_value"] if event["event"] == "installment_settled" else event["settled_value"]  # mistake
def gone(error: ApiError) -> bool:
    return error.error_code == "loan_not_fund"  # mistake
`;

const folder = temporaryDirectory();
/** An interpreter that has the package and nothing else. */
let python: string;

const run = async (command: string, args: readonly string[], variables: NodeJS.ProcessEnv = {}) => {
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1', NO_PROXY: '*', ...variables };
  const { stdout } = await promisify(execFile)(command, args, { cwd: folder, env, timeout: 240_000 });
  return stdout;
};

beforeAll(async () => {
  for (const name of ['life.py', 'receiver.py'])
    await writeFile(join(folder, name), documentedCode(README, name));
  await run(builder, ['-m', 'build', '--no-isolation', '--outdir', join(folder, 'dist'), PROJECT]);
  await run(builder, ['-m', 'venv', join(folder, 'fresh')]);
  python = join(folder, 'fresh/bin/python');
  const wheel = join(folder, 'dist', `receivables_fund-${API_VERSION}-py3-none-any.whl`);
  await run(python, ['-m', 'pip', 'install', '--quiet', '--no-index', '--no-deps', wheel]);
});

describe('the package', () => {
  test('is built as sdist and wheel, and leaves nothing in the repository', async () => {
    const built = await readdir(join(folder, 'dist'));
    expect(built.sort()).toEqual([
      `receivables_fund-${API_VERSION}-py3-none-any.whl`,
      `receivables_fund-${API_VERSION}.tar.gz`,
    ]);
    expect((await readdir(PROJECT)).sort()).toEqual([
      'MANIFEST.in',
      'README.md',
      'building',
      'pyproject.toml',
      'receivables_fund',
    ]);
    expect(await readdir(join(PROJECT, 'receivables_fund'))).not.toContain('types.py');
  });

  test('needs nothing, and brings the licence and its types', async () => {
    const program = `
import importlib.metadata as installed, receivables_fund
from importlib.resources import files
package = installed.distribution("receivables-fund")
print(package.requires, package.version == receivables_fund.API_VERSION, files("receivables_fund").joinpath("py.typed").is_file())
print(package.read_text("licenses/LICENSE"), end="")`;
    const licence = await readFile(join(ROOT, 'LICENSE'), 'utf8');
    expect(await run(python, ['-c', program])).toBe(`None True True\n${licence}`);
  });

  test('passes its tests', async () => {
    const vectors = join(ROOT, 'docs/webhook-verifier/test-vectors.json');
    await run(python, ['-m', 'unittest', 'discover', '-s', import.meta.dirname], { VECTORS: vectors });
  });

  test('is typed through and through, and so is what uses it', async () => {
    const checked = ['stranger.py', 'test_retries.py', 'test_tokens.py', 'test_webhooks.py', 'test_wire.py'];
    const check = ['-m', 'mypy', '--strict', '--python-executable', python, '--cache-dir', 'checked'];
    const files = [...checked.map((name) => join(import.meta.dirname, name)), 'life.py', 'receiver.py'];
    for (const what of [['--python-version', '3.10', '-p', 'receivables_fund'], files])
      await run(builder, [...check, ...what], { MYPYPATH: import.meta.dirname });

    await writeFile(join(folder, 'mistaken.py'), MISTAKEN);
    const { stdout } = (await run(builder, [...check, 'mistaken.py']).catch((error) => error)) as {
      stdout: string;
    };
    const found = new Set(
      [...stdout.matchAll(/^mistaken.py:(\d+): error/gm)].map(([, line]) => Number(line)),
    );
    const made = MISTAKEN.split('\n').flatMap((line, at) => (line.includes('# mistake') ? [at + 1] : []));
    expect([...found]).toEqual(made);
  });
});

describe('a stranger', () => {
  let service: ServiceProcess;
  let variables: NodeJS.ProcessEnv;

  beforeAll(async () => {
    const ca = await authority();
    const leaf = await ca.leaf();
    await writeFile(join(folder, 'ca.pem'), ca.caPem);
    await writeFile(join(folder, 'receiver.pem'), leaf.key + leaf.cert);
    service = await ServiceProcess.start(join(folder, 'data'), {
      SANDBOX_STEP: '0ms',
      WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true',
      WEBHOOK_CA_FILE: join(folder, 'ca.pem'),
      WEBHOOK_RETRY_SCHEDULE: '10ms',
    });
    const { client_id, client_secret } = await service.createClient(FUND);
    variables = {
      BASE: service.baseUrl,
      CLIENT_ID: client_id,
      CLIENT_SECRET: client_secret,
      FUND,
      CERTIFICATE: join(folder, 'receiver.pem'),
      AUTHORITY: join(folder, 'ca.pem'),
    };
  });
  afterAll(() => service?.end('SIGTERM'));

  test('lives through everything, loses a receiver and an answer, and has paid once', async () => {
    const told = JSON.parse(await run(python, [join(import.meta.dirname, 'stranger.py')], variables));
    expect(told).toEqual({
      statuses: {
        'LIFE-1': 'active',
        'LIFE-2': 'settled',
        'LIFE-3': 'repurchased',
        'LIFE-4': 'renegotiated',
        'LIFE-4-R': 'active',
        'HELD-1': 'rejected',
      },
      missed: expect.any(Number),
      refused: true,
    });
  });

  test('finds in the README what runs as it stands', async () => {
    await writeFile(join(folder, 'ccb.pdf'), '%PDF-1.4\n%%EOF\n');
    expect(await run(python, ['life.py'], variables)).toBe(documentedCode(README, 'printed'));
    expect(await receive([python, 'receiver.py'], folder)).toEqual(EXPECTED);
  });
});
