import { slowness } from './main-thread-cost.ts';
import { spawn } from 'node:child_process';
import { createWriteStream, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { CompiledQuery } from 'kysely';
import { makeServiceData, openServingGeneration } from './service-data.ts';

export const FUND = '3f0c1e52-8a44-4b8e-9d64-0b7f6f1c2a10';
const INSTALLMENTS = 10;
const DAYS = 28;
const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** One payment in so many is told differently by the two sides, each in its own way. */
const ODD_ONE_IN = 10_000;
const ODD = { missingLine: 1, otherAmount: 2, twice: 3, laterDay: 4, codeAlone: 5, noReference: 6 } as const;

const codeOf = (operation: number): string => `PROP-2026-${String(operation).padStart(7, '0')}`;
const amountOf = (i: number): number => 50_000 + ((i * 7_919) % 90_000);
const dayOf = (i: number): number => 1 + (i % DAYS);

/** The read model of a fund with so many settlements in June, without the events behind it. */
export const fillReadModel = async (dataDir: string, payments: number): Promise<void> => {
  await makeServiceData(dataDir, FUND);
  const database = await openServingGeneration(dataDir);
  const numbers = 'with recursive n(i) as (select 0 union all select i + 1 from n where i + 1 < ?)';
  const stream = (operation: string) => `printf('loan-app-1.PROP-2026-%07d', ${operation})`;
  try {
    await database.transaction([
      {
        query: CompiledQuery.raw(
          `${numbers} insert into loan (id, stream, application_id, code, fund_id, status, product_type, acquisition_value,
             number_of_installments, date_issued, daily_factor, borrower, received_at, reason_detail)
           select i, ${stream('i')}, 'app-1', printf('PROP-2026-%07d', i), ?, 'active', '', 0, 0, '', '', '', '', '' from n`,
          [Math.ceil(payments / INSTALLMENTS), FUND],
        ),
      },
      {
        query: CompiledQuery.raw(
          `${numbers} insert into payment (fund_id, position, operation, revision, event_id, kind, installment_code, date, amount,
             owed_value, underpaid_value, excess_value, shortfall_value, received_before, installments, recorded_at)
           select ?2, ?1 + i, i / ${INSTALLMENTS}, 4 + i % ${INSTALLMENTS},
             printf('0198c1de-7a00-7c1f-9b1e-%012x', i), 'settlement', printf('%03d', 1 + i % ${INSTALLMENTS}),
             printf('2026-06-%02d', 1 + i % ${DAYS}), 50000 + i * 7919 % 90000,
             50000 + i * 7919 % 90000, 0, 0, 0, 0, 1, '2026-06-30T12:00:00.000Z' from n`,
          [payments, FUND],
        ),
      },
    ]);
  } finally {
    await database.close();
  }
};

const money = (cents: number): string => {
  const digits = String(cents).padStart(3, '0');
  return `${digits.slice(0, -2).replace(/\B(?=(\d{3})+$)/g, '.')},${digits.slice(-2)}`;
};

const linesOf = (i: number): readonly string[] => {
  const code = codeOf(Math.floor(i / INSTALLMENTS));
  const reference = `${code}/${String(1 + (i % INSTALLMENTS)).padStart(3, '0')}`;
  const line = (day: number, amount: number, text: string): string =>
    `${String(day).padStart(2, '0')}/06/2026;LIQUIDACAO;${money(amount)};${text}\n`;
  const [day, amount] = [dayOf(i), amountOf(i)];
  switch (i % ODD_ONE_IN) {
    case ODD.missingLine:
      return [];
    case ODD.otherAmount:
      return [line(day, amount - 1, reference)];
    case ODD.twice:
      return [line(day, amount, reference), line(day, amount, reference)];
    case ODD.laterDay:
      return [line(day + 1, amount, reference)];
    case ODD.codeAlone:
      return [line(day, amount, code)];
    case ODD.noReference:
      return [line(day, amount, 'PIX RECEBIDO')];
    default:
      return [line(day, amount, reference)];
  }
};

/** The statement of the same fund in another order, as a Brazilian bank writes it. */
export const writeStatement = async (path: string, payments: number): Promise<void> => {
  const file = createWriteStream(path);
  file.write('Data;Histórico;Valor;Documento\n');
  for (let i = payments - 1; i >= 0; i -= 1)
    for (const line of linesOf(i)) if (!file.write(line)) await once(file, 'drain');
  file.end();
  await once(file, 'close');
};

/** What a comparison must find. */
export const expectedResults = (payments: number): Readonly<Record<string, number>> => {
  const odd = Math.floor((payments + ODD_ONE_IN - 1) / ODD_ONE_IN);
  return {
    matched: payments - 2 * odd,
    amount_differs: odd,
    missing_in_statement: odd,
    missing_in_notifications: 0,
    duplicate_in_statement: odd,
    duplicate_in_notifications: 0,
  };
};

export interface MeasuredRun {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
  readonly ms: number;
  /** Most memory that the process ever held, in bytes; NaN where the system does not tell. */
  readonly peakBytes: number;
  /** Most that its files without a name ever held together, in bytes: those that SQLite keeps in `TMPDIR`. */
  readonly peakTemporaryBytes: number;
  /** Processor time of all its threads, until shortly before its end; NaN where the system does not tell. */
  readonly processorMs: number;
}

/** What a command took by itself, on the machine of `slowness`: other work on this one lengthens it, and costs it no processor time. */
export const ownMs = ({ ms, processorMs }: MeasuredRun): number =>
  (Number.isNaN(processorMs) ? ms : Math.min(ms, processorMs)) / slowness();

const peakOf = (pid: number): number => {
  try {
    return 1024 * Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  } catch {
    return NaN;
  }
};

/** /proc counts in hundredths of a second. */
const processorOf = (pid: number): number => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return 10 * (Number(fields[11]) + Number(fields[12]));
  } catch {
    return NaN;
  }
};

const temporaryOf = (pid: number): number => {
  const directory = `/proc/${pid}/fd`;
  try {
    return readdirSync(directory)
      .filter((fd) => readlinkSync(`${directory}/${fd}`).endsWith(' (deleted)'))
      .reduce((sum, fd) => sum + statSync(`${directory}/${fd}`).size, 0);
  } catch {
    return 0;
  }
};

/**
 * The command line as a process of its own, with its time and its memory.
 * @param killAfterMs kills it then, in the middle of whatever it does
 */
export const measuredCommand = async (
  dataDir: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  killAfterMs?: number,
): Promise<MeasuredRun> => {
  const program = ['--disable-warning=ExperimentalWarning', 'infrastructure/composition/receivables.ts'];
  const start = performance.now();
  const child = spawn(process.execPath, [...program, ...args], {
    cwd: ROOT,
    env: { ...process.env, DATA_DIR: dataDir, LOG_LEVEL: 'error', ...environment },
  });
  let [out, err, peakBytes, peakTemporaryBytes, processorMs] = ['', '', NaN, 0, NaN];
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  const looking = setInterval(() => {
    const peak = peakOf(child.pid!);
    if (!Number.isNaN(peak)) peakBytes = peak;
    peakTemporaryBytes = Math.max(peakTemporaryBytes, temporaryOf(child.pid!));
    const processor = processorOf(child.pid!);
    // One that has ended and was not collected yet has none.
    if (processor > 0) processorMs = processor;
    if (killAfterMs !== undefined && performance.now() - start > killAfterMs) child.kill('SIGKILL');
  }, 20);
  const [code] = (await once(child, 'close')) as [number | null];
  clearInterval(looking);
  return { code, out, err, ms: performance.now() - start, peakBytes, peakTemporaryBytes, processorMs };
};

export const reconcileArguments = (statement: string): readonly string[] => [
  ...['reconcile', '--fund', FUND, '--from', '2026-06-01', '--to', '2026-06-30', '--statement', statement],
  ...['--delimiter', ';', '--decimal', ',', '--date-format', 'dd/mm/yyyy'],
  ...['--date-column', 'data', '--amount-column', 'valor', '--reference-column', 'documento'],
];
