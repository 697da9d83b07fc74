import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { KeptRequest } from '../fixtures/data-directories/recording-client.ts';
import { temporaryDirectory } from './temporary-directory.ts';
import type { ClientCredentials } from './api-client.ts';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- answers are checked field by field where they are used
export type Json = any;

/** What one application was answered by the service that wrote the data directory. */
export interface RecordedApplication {
  readonly credentials: ClientCredentials;
  readonly list: readonly Json[];
  readonly loans: readonly Json[];
  readonly webhooks: readonly Json[];
  /** By webhook_id. */
  readonly deliveries: Readonly<Record<string, readonly Json[]>>;
  readonly replays: readonly {
    readonly request: KeptRequest;
    readonly status: number;
    readonly body: Json;
  }[];
}

interface Recorded {
  readonly applications: readonly RecordedApplication[];
  /** Lines of `receivables events`. */
  readonly events: readonly Json[];
  /** By code, of the first application: the events of `audit show`, without their contents. */
  readonly shown: Readonly<Record<string, readonly Json[]>>;
}

const DIRECTORIES = fileURLToPath(new URL('../fixtures/data-directories/', import.meta.url));

/** A copy of a data directory that an earlier version wrote, in a production where nothing moves by itself. */
export class KeptDataDirectory {
  readonly dataDir: string;
  readonly recorded: Recorded;
  readonly environment: Readonly<Record<string, string>>;

  private constructor(parts: Pick<KeptDataDirectory, 'dataDir' | 'recorded'>, masterKey: string) {
    this.dataDir = parts.dataDir;
    this.recorded = parts.recorded;
    this.environment = { DATA_DIR: this.dataDir, ENVIRONMENT: 'production', MASTER_KEY: masterKey };
  }

  static async unpack(version: string): Promise<KeptDataDirectory> {
    const path = temporaryDirectory();
    await promisify(execFile)('tar', ['-C', path, '-xzf', join(DIRECTORIES, `${version}.tar.gz`)]);
    const recorded = JSON.parse(await readFile(join(path, 'recorded.json'), 'utf8')) as Recorded;
    const dataDir = join(path, 'data');
    const masterKey = (await readFile(join(dataDir, 'master.key'), 'utf8')).trim();
    return new KeptDataDirectory({ dataDir, recorded }, masterKey);
  }
}
