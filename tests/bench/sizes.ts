import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { loanRequest } from '../support/api-client.ts';
import { ServiceProcess } from '../support/service-process.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/**
 * Bytes on disk of the embedded profile: for an operation with twelve installments up to its disbursement, and for each settlement.
 * The files are measured after the service has ended, when their write-ahead logs are in them.
 */
const OPERATIONS = 400;
const SETTLED = 6;
const AT_ONCE = 20;

const directory = temporaryDirectory();
const dataDir = join(directory, 'data');

const sizes = (): Readonly<Record<string, number>> => {
  const bytes: Record<string, number> = { 'events.db': 0, 'read-model-1.db': 0, 'service.db': 0 };
  for (const name of readdirSync(dataDir))
    if (name in bytes) bytes[name] = statSync(join(dataDir, name)).size;
  return bytes;
};

/** Some at once, until all are through. */
const each = async (work: (code: string) => Promise<{ readonly status: number }>): Promise<void> => {
  for (let first = 0; first < OPERATIONS; first += AT_ONCE) {
    const codes = Array.from({ length: AT_ONCE }, (_, i) => `SIZE-${first + i}`);
    for (const { status } of await Promise.all(codes.map(work)))
      if (status >= 300) throw new Error(`answered ${status}`);
  }
};

const service = await ServiceProcess.start(dataDir, { SANDBOX_STEP: '50ms' });
try {
  const api = await service.client();
  await service.end('SIGTERM');
  const empty = sizes();
  await service.start();
  await each((code) => api.assign(loanRequest(api.fund, code, 12)));
  await each((code) => api.untilStatus(code, 'active', 60_000));
  await service.end('SIGTERM');
  const active = sizes();
  await service.start();
  for (let installment = 1; installment <= SETTLED; installment++)
    await each((code) => api.settle(code, String(installment).padStart(3, '0'), 950));
  await service.end('SIGTERM');
  const settled = sizes();
  for (const file of Object.keys(empty)) {
    const operation = Math.round((active[file]! - empty[file]!) / OPERATIONS);
    const settlement = Math.round((settled[file]! - active[file]!) / OPERATIONS / SETTLED);
    console.log(`${file.padEnd(16)} ${operation} bytes an operation, ${settlement} a settlement`);
  }
} finally {
  await service.end('SIGTERM').catch(() => undefined);
}
