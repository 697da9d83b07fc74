import { randomUUID } from 'node:crypto';
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { readConfiguration } from '../../infrastructure/composition/configuration.ts';
import { partsOf } from '../../infrastructure/composition/container.ts';
import { openFoundations } from '../../infrastructure/composition/foundations.ts';
import { loanRequest } from './api-client.ts';
import type { ApiClient } from './api-client.ts';
import { commandLine } from './command-line.ts';
import type { CommandResult } from './command-line.ts';
import { RecordingLogger } from './recording-logger.ts';
import { ServiceProcess } from './service-process.ts';
import { temporaryDirectory } from './temporary-directory.ts';

const accepted = ({ status, body }: { readonly status: number; readonly body: unknown }): void => {
  if (status >= 300) throw new Error(`refused with ${status}: ${JSON.stringify(body)}`);
};

const renegotiation = (original: string, code: string): object => ({
  original_proposal_code: original,
  effective_date: '2026-06-20',
  new_proposal: {
    originator_proposal_code: code,
    number_of_installments: 1,
    acquisition_value: 4000,
    installments: [{ code: '1', due_date: '2099-08-20', face_value: 4200 }],
  },
});

const CODES = ['A', 'B', 'C', 'D'];
const installments = ['001', '002', '003', '004'].map((code, i) => ({
  code,
  due_date: `2099-0${i + 1}-15`,
  face_value: 950,
}));

/** Operations that went every way there is: paid short, prepaid in part and in full, repurchased, renegotiated, forgotten. */
const liveThroughEverything = async (api: ApiClient): Promise<void> => {
  const subscription = { url: 'https://127.0.0.1:9/hook', events: ['*'] };
  accepted(await api.call('POST', '/webhook', subscription));
  for (const code of CODES) accepted(await api.assign(loanRequest(api.fund, code, 4, { installments })));
  // What is due long ago becomes overdue at some moment, so no test counts on revisions of this one.
  accepted(await api.assign(loanRequest(api.fund, 'E', 4)));
  for (const code of [...CODES, 'E']) await api.untilStatus(code, 'active');
  accepted(await api.settle('A', '001', 900));
  accepted(await api.settle('A', '002', 950));
  for (const [key, value, date] of [
    ['part', 1333.33, '2026-02-11'],
    ['rest', 9333.33, '2026-03-11'],
  ] as const) {
    const payment = { prepayment_value: value, prepayment_date: date, payment_method: 'pix' };
    const contents = { originator_proposal_code: 'B', ...payment, idempotency_key: key };
    accepted(await api.call('POST', '/installment/prepayment', contents));
  }
  const repurchase = { reason: 'repurchase', effective_date: '2026-03-11', idempotency_key: 'back' };
  accepted(await api.call('POST', '/loan/repurchase', { originator_proposal_code: 'C', ...repurchase }));
  accepted(await api.call('PATCH', '/loan/renegotiate', renegotiation('D', 'N')));
  await api.untilStatus('N', 'active');
  await api.untilStatus('C', 'repurchased');
};

/** Data directories to tamper with: copies of one that a service filled and left. */
export class AuditedWorld {
  readonly fund: string;
  readonly #original: string;

  private constructor(fund: string, original: string) {
    this.fund = fund;
    this.#original = original;
  }

  static async create(meanwhile: (service: ServiceProcess) => Promise<void>): Promise<AuditedWorld> {
    const original = temporaryDirectory();
    const environment = { SANDBOX_STEP: '1ms', WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true' };
    const service = await ServiceProcess.start(original, environment);
    try {
      const api = await service.client();
      await liveThroughEverything(api);
      await service.receivables(
        'borrower',
        'forget',
        '--document',
        '52998224725',
        '--yes',
        '--including-open',
      );
      await meanwhile(service);
      return new AuditedWorld(api.fund, original);
    } finally {
      await service.end('SIGTERM');
    }
  }

  /** Runs the command on a copy, in which one of the databases was changed by hand. */
  async audit(
    args: readonly string[],
    tampering?: { readonly file: string; readonly change: (db: DatabaseSync) => void },
  ): Promise<CommandResult> {
    return this.onCopy(async (dataDir) => {
      if (tampering) tamper(join(dataDir, tampering.file), tampering.change);
      return auditOf(dataDir, args);
    });
  }

  /** Does something with a copy. */
  async onCopy<Answer>(work: (dataDir: string) => Promise<Answer>): Promise<Answer> {
    const dataDir = `${this.#original}-${randomUUID()}`;
    await cp(this.#original, dataDir, { recursive: true });
    try {
      return await work(dataDir);
    } finally {
      await rm(dataDir, { recursive: true, force: true });
    }
  }
}

/** As a person with the file at hand would: triggers and references do not stop them. */
export const tamper = (file: string, change: (db: DatabaseSync) => void): void => {
  const db = new DatabaseSync(file, { enableForeignKeyConstraints: false });
  try {
    const triggers = db.prepare(`select name from sqlite_master where type = 'trigger'`).all();
    for (const { name } of triggers) db.exec(`drop trigger "${String(name)}"`);
    change(db);
  } finally {
    db.close();
  }
};

/** Runs `audit` with these arguments on a directory that no service uses. */
export const auditOf = async (dataDir: string, args: readonly string[]): Promise<CommandResult> => {
  const logger = new RecordingLogger();
  const foundations = await openFoundations(readConfiguration({ DATA_DIR: dataDir }), logger);
  try {
    const { audit, clients, funds, loans } = partsOf(foundations);
    return await commandLine(() => ({ audit, clients, funds, loans }))('audit', ...args);
  } finally {
    await foundations.close();
  }
};
