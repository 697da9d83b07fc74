import { execFile, execFileSync, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { FUND } from '../support/application-parts.ts';
import { authority } from '../support/certificates.ts';
import { ServiceProcess, freePort } from '../support/service-process.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** The files of docs/operations and the completions, in the programs that they are written for. */
const ROOT = join(import.meta.dirname, '..', '..');
const fileOf = (name: string): string => readFileSync(join(ROOT, 'docs', 'operations', name), 'utf8');
const run = promisify(execFile);

const directory = temporaryDirectory();

describe('nginx.conf', () => {
  let service: ServiceProcess;
  let nginx: ChildProcess | undefined;
  let address: string;
  beforeAll(async () => {
    service = await ServiceProcess.start(join(directory, 'data'), { TRUST_PROXY: '1' });
    const ca = await authority();
    const { cert, key } = await ca.leaf({ names: ['localhost'] });
    const place = (name: string, text: string): string => {
      writeFileSync(join(directory, name), text);
      return join(directory, name);
    };
    place('ca.pem', ca.caPem);
    const port = await freePort();
    address = `https://localhost:${port}`;
    const server = fileOf('nginx.conf')
      .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
      .replace('api.example.com;', 'localhost;')
      .replace('/etc/ssl/api.example.com.pem', place('server.pem', cert))
      .replace('/etc/ssl/private/api.example.com.key', place('server.key', key))
      .replace('http://127.0.0.1:3000', service.baseUrl);
    const own = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${name};`,
    );
    const text = `error_log error.log; pid nginx.pid; events {} http { access_log off; ${own.join(' ')}\n${server}}`;
    nginx = spawn('nginx', [
      ...['-p', directory, '-e', 'error.log', '-c', place('nginx.conf', text), '-g', 'daemon off;'],
    ]);
    while (
      await curl('/health/live').then(
        () => false,
        () => true,
      )
    )
      await setTimeout(50);
  }, 300_000);
  afterAll(async () => {
    nginx?.kill('SIGTERM');
    if (nginx && nginx.exitCode === null) await once(nginx, 'exit');
    await service?.end('SIGTERM');
  });

  const curl = async (path: string, ...args: readonly string[]): Promise<string> => {
    const certificates = ['--cacert', join(directory, 'ca.pem')];
    const { stdout } = await run('curl', [
      '-sS',
      '--fail-with-body',
      ...certificates,
      ...args,
      `${address}${path}`,
    ]);
    return stdout;
  };

  test('leads a caller over TLS to the service, files included', async () => {
    const { client_id, client_secret } = await service.createClient(FUND);
    const form = `grant_type=client_credentials&client_id=${client_id}&client_secret=${client_secret}`;
    const { access_token } = JSON.parse(await curl('/token', '-d', form));
    writeFileSync(join(directory, 'large.bin'), Buffer.alloc(3 << 20));
    const answer = await curl(
      '/loan/files',
      ...['-H', `Authorization: Bearer ${access_token}`, '-F', 'files_data={}'],
      ...['-F', `files=@${join(directory, 'large.bin')}`],
    ).catch(({ stdout }: { stdout: string }) => stdout);
    // The service's own answer about the body, not one of the proxy about its size.
    expect(JSON.parse(answer)).toMatchObject({
      error_code: expect.any(String),
      request_id: expect.any(String),
    });
  }, 300_000);
});

test('haproxy.cfg leads callers to the replicas that are ready, and answers like one where none is', async () => {
  const services = await Promise.all(
    ['first', 'second'].map((name) =>
      ServiceProcess.start(join(directory, `replica-${name}`), { TRUST_PROXY: '1' }),
    ),
  );
  const port = await freePort();
  const [template] = /^ *server-template .*$/m.exec(fileOf('haproxy.cfg')) ?? [''];
  const replicas = services.map(
    ({ baseUrl }, i) =>
      `  server replica${i} ${new URL(baseUrl).host} ${/check .* rise \d+/.exec(template)?.[0]}`,
  );
  const path = join(directory, 'haproxy.cfg');
  writeFileSync(
    path,
    fileOf('haproxy.cfg')
      .replace('bind :3000', `bind 127.0.0.1:${port}`)
      .replace(template, replicas.join('\n')),
  );
  await run('haproxy', ['-c', '-f', path]);
  const haproxy = spawn('haproxy', ['-db', '-f', path], { stdio: ['ignore', 'pipe', 'ignore'] });
  let logged = '';
  haproxy.stdout.on('data', (chunk: Buffer) => (logged += chunk.toString()));
  try {
    const answers = async (): Promise<boolean> =>
      fetch(`http://127.0.0.1:${port}/health/ready`).then(
        ({ ok }) => ok,
        () => false,
      );
    while (!(await answers())) await setTimeout(50);
    await services[0]!.end('SIGTERM');
    // Two checks in a row find that it is gone; a request that meets it before that is sent to the other one.
    for (let i = 0; i < 20; i++) expect(await answers()).toBe(true);
    await services[1]!.end('SIGTERM');
    const refusal = await fetch(`http://127.0.0.1:${port}/loan`);
    const body = (await refusal.json()) as { readonly request_id: string };
    expect([refusal.status, refusal.headers.get('content-type')]).toEqual([503, 'application/json']);
    expect(Number(refusal.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(body).toEqual({
      error_code: 'service_unavailable',
      message: expect.stringContaining('send the same request again'),
      request_id: refusal.headers.get('x-request-id'),
      retryable: true,
    });
    // It is one line of the log, found by its id.
    for (let i = 0; i < 100 && !logged.includes(body.request_id); i++) await setTimeout(50);
    expect(logged).toContain(body.request_id);
  } finally {
    haproxy.kill('SIGTERM');
    await once(haproxy, 'exit');
    await services[1]!.end('SIGKILL');
  }
}, 300_000);

test('receivables.service is a unit that systemd takes', async () => {
  const unit = join(directory, 'receivables.service');
  const text = fileOf('receivables.service').replaceAll('/opt/receivables', ROOT.replace(/\/$/, ''));
  writeFileSync(unit, text);
  const { stderr } = await run('systemd-analyze', ['verify', unit]);
  expect(stderr.split('\n').filter((line) => line.includes('receivables.service'))).toEqual([]);
}, 300_000);

test('commands of one machine have the environment of its service', async () => {
  const page = readFileSync(join(ROOT, 'docs/configuration.md'), 'utf8');
  const [, script = ''] = /^### On one machine\n[\s\S]*?^```sh\n([\s\S]*?)^```/m.exec(page) ?? [];
  const [environment, data] = [join(directory, 'environment'), join(directory, 'nothing')];
  writeFileSync(environment, `ENVIRONMENT=sandbox\nDATA_DIR=${data}\n`);
  const here = script
    .replaceAll('/opt/receivables', ROOT.replace(/\/$/, ''))
    .replace('/etc/receivables/environment', environment);
  const told = run('sh', ['-c', here, 'receivables', 'client', 'list'], { cwd: directory });
  await expect(told).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining(`data in ${data}`) });
}, 300_000);

describe('completion', () => {
  const script = (shell: string): string => {
    const path = join(directory, `completion.${shell}`);
    const flags = ['--disable-warning=ExperimentalWarning', 'infrastructure/composition/receivables.ts'];
    writeFileSync(path, execFileSync(process.execPath, [...flags, 'completion', shell], { cwd: ROOT }));
    return path;
  };

  test('in bash', async () => {
    const line =
      'COMP_WORDS=(receivables administrator ap); COMP_CWORD=2; _receivables; echo "${COMPREPLY[@]}"';
    const { stdout } = await run('bash', ['-c', `source ${script('bash')}; ${line}`]);
    expect(stdout).toBe('approve apply\n');
  });

  test('in fish', async () => {
    const { stdout } = await run('fish', [
      '-c',
      `source ${script('fish')}; complete -C "receivables administrator ap"`,
    ]);
    expect(stdout.split('\n').map((line) => line.split('\t')[0])).toEqual(['apply', 'approve', '']);
  });

  test('in zsh, at a terminal', async () => {
    const program = `zmodload zsh/zpty
      zpty z zsh -f -i
      zpty -w z "source ${script('zsh')}; bindkey '^I' complete-word; print sour''ced"
      zpty -r z seen '*sourced*'
      zpty -n -w z "receivables administrator appr"$'\\t'
      zpty -r z seen '*approve*'
      zpty -d z
      print found`;
    const { stdout } = await run('zsh', ['-f', '-c', program], { timeout: 30_000 });
    expect(stdout).toBe('found\n');
  }, 300_000);
});
