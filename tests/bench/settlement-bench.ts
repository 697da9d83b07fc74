import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiClient, loanRequest, settlement, smallPdf } from '../support/api-client.ts';
import { ServiceProcess, freePort } from '../support/service-process.ts';
import { load, row, together } from './load.ts';
import { measurePostAssignment } from './post-assignment.ts';
import type { Load, Request } from './load.ts';

/** A benchmark, not a test: settlements and a bare Express echo of the same body in turns, then assignments. */
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 4);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const CONNECTIONS = 32;
const INSTALLMENTS = 12;

const directory = mkdtempSync(join(tmpdir(), 'receivables-bench-'));
const eventLoopFile = join(directory, 'event-loop.json');
const probe = new URL('./event-loop-probe.ts', import.meta.url).href;
const service = await ServiceProcess.start(
  join(directory, 'data'),
  { SANDBOX_STEP: '1ms', EVENT_LOOP_FILE: eventLoopFile, LOG_LEVEL: 'error' },
  ['--import', probe],
);
const api = new ApiClient(service.baseUrl, await service.createClient(randomUUID(), 1_000));
const authorization = `Bearer ${await api.token()}`;

const boundary = 'receivables-bench-boundary';
const assignment = (code: string, count: number): Request => {
  const part = (head: string, content: string | Uint8Array): Buffer =>
    Buffer.concat([
      Buffer.from(`--${boundary}\r\n${head}\r\n\r\n`),
      Buffer.from(content),
      Buffer.from('\r\n'),
    ]);
  return {
    path: '/loan',
    headers: { authorization, 'content-type': `multipart/form-data; boundary=${boundary}` },
    body: Buffer.concat([
      part(
        'Content-Disposition: form-data; name="loan_data"',
        JSON.stringify(loanRequest(api.fund, code, count)),
      ),
      part(
        'Content-Disposition: form-data; name="files"; filename="ccb.pdf"\r\nContent-Type: application/pdf',
        smallPdf(),
      ),
      Buffer.from(`--${boundary}--\r\n`),
    ]),
  };
};

let loans = 0;
const assign = (count: number, seconds: number): Promise<Load> =>
  load(service.baseUrl, () => assignment(`B-${count}-${++loans}`, count), {
    connections: 8,
    seconds,
    status: 201,
  });

const settlements: Request[] = [];
const prepareSettlements = async (wanted: number): Promise<void> => {
  const codes = Array.from({ length: Math.ceil(wanted / INSTALLMENTS) }, (_, i) => `S-${i}`);
  const queue = [...codes];
  await load(
    service.baseUrl,
    () => {
      const code = queue.pop();
      return code === undefined ? undefined : assignment(code, INSTALLMENTS);
    },
    { connections: 8, seconds: 600, status: 201 },
  );
  for (const code of codes) await api.untilStatus(code, 'active', 120_000);
  for (let i = 1; i <= INSTALLMENTS; i++) {
    for (const code of codes) {
      settlements.push({
        path: '/installment/settle',
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify(settlement(code, String(i).padStart(3, '0'), 950)),
      });
    }
  }
};

const echoPort = await freePort();
const echo = spawn(process.execPath, [new URL('./echo-server.ts', import.meta.url).pathname], {
  env: { ...process.env, PORT: String(echoPort) },
  stdio: ['ignore', 'pipe', 'inherit'],
});
await once(echo.stdout, 'data');
const sample = { path: '/echo', headers: { 'content-type': 'application/json' }, body: '' };

const measure = async (): Promise<void> => {
  console.log(
    `node ${process.version}, ${CONNECTIONS} connections, ${ROUNDS} rounds of ${SECONDS} s in turns\n`,
  );
  await prepareSettlements(Number(process.env['BENCH_SETTLEMENTS'] ?? 36_000));
  const body = settlements[0]!.body;
  const options = { connections: CONNECTIONS, seconds: SECONDS, status: 200 };
  const bare: Load[] = [];
  const settled: Load[] = [];
  await load(`http://127.0.0.1:${echoPort}`, () => ({ ...sample, body }), { ...options, seconds: 1 });
  await load(service.baseUrl, () => settlements.pop(), { ...options, seconds: 1 });
  process.kill(service.pid!, 'SIGUSR2');
  for (let round = 0; round < ROUNDS; round++) {
    bare.push(await load(`http://127.0.0.1:${echoPort}`, () => ({ ...sample, body }), options));
    settled.push(await load(service.baseUrl, () => settlements.pop(), options));
  }
  process.kill(service.pid!, 'SIGWINCH');
  const [echoed, through] = [together(bare), together(settled)];
  console.log(row('bare Express echo', echoed));
  console.log(row('POST /installment/settle', through));
  console.log(`ratio ${(through.perSecond / echoed.perSecond).toFixed(2)}\n`);
  console.log(row('POST /loan, 12 installments', await assign(12, SECONDS)));
  console.log(row('POST /loan, 480 installments', await assign(480, SECONDS)));
  console.log('\none request after another:');
  await measurePostAssignment({ baseUrl: service.baseUrl, api, authorization, assignment });
  const { max, p99 } = JSON.parse(readFileSync(eventLoopFile, 'utf8')) as { max: number; p99: number };
  console.log(
    `\nlongest stall of the event loop while settling: ${max.toFixed(1)} ms (99 % of samples below ${p99.toFixed(1)} ms)`,
  );
};

try {
  await measure();
} finally {
  echo.kill();
  await service.end('SIGTERM');
  rmSync(directory, { recursive: true, force: true });
}
