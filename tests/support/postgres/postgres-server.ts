import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chown, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { letGo } from '../let-go.ts';
import { freePort } from '../service-process.ts';
import { temporaryDirectory } from '../temporary-directory.ts';

const run = promisify(execFile);

const INSTALLED = '/usr/lib/postgresql';
const USER = 'receivables';
const START_MS = 60_000;
const POLL_MS = 50;
const KEPT_OUTPUT = 20_000;

/** @throws Error when no server is installed */
const binaries = async (): Promise<string> => {
  const versions = (await readdir(INSTALLED).catch(() => [])).map(Number).filter(Number.isFinite);
  if (versions.length > 0) return join(INSTALLED, String(Math.max(...versions)), 'bin');
  throw new Error(`no PostgreSQL under ${INSTALLED}: install the package postgresql, or give DATABASE_URL`);
};

/** PostgreSQL refuses to run as root, so then it runs as the user of its package. */
const asServerUser = (command: string): readonly [file: string, args: readonly string[]] => {
  if (process.getuid?.() !== 0) return [command, []];
  const identity = ['--reuid', 'postgres', '--regid', 'postgres', '--init-groups'];
  return ['setpriv', [...identity, command]];
};

const ownedByServerUser = async (path: string): Promise<void> => {
  if (process.getuid?.() !== 0) return;
  const ids = await Promise.all(['-u', '-g'].map((which) => run('id', [which, 'postgres'])));
  const [uid, gid] = ids.map(({ stdout }) => Number(stdout));
  await chown(path, uid!, gid!);
};

/** A real server of its own in a temporary directory, on a loopback port. */
export class PostgresServer {
  readonly port: number;
  readonly #bin: string;
  readonly #directory: string;
  readonly #settings: Readonly<Record<string, string>>;
  #child: ChildProcess | undefined;
  #output = '';

  private constructor(
    port: number,
    bin: string,
    directory: string,
    settings: Readonly<Record<string, string>>,
  ) {
    this.port = port;
    this.#bin = bin;
    this.#directory = directory;
    this.#settings = settings;
  }

  /**
   * `durable`: waits for the disk as in production; off by default, which is faster and survives everything but a power cut.
   * `counting`: can count what its statements cost (the extension `pg_stat_statements`).
   */
  static async start({ durable = false, counting = false, among = tmpdir() } = {}): Promise<PostgresServer> {
    const options = ['--auth=trust', '--no-sync', '--encoding=UTF8', '--locale=C.UTF-8', '-U', USER];
    return PostgresServer.#prepared(temporaryDirectory(among), 'initdb', options, {
      fsync: durable ? 'on' : 'off',
      ...(counting ? { shared_preload_libraries: 'pg_stat_statements' } : {}),
    });
  }

  static async #prepared(
    directory: string,
    program: string,
    options: readonly string[],
    settings: Readonly<Record<string, string>>,
  ): Promise<PostgresServer> {
    const bin = await binaries();
    await ownedByServerUser(directory);
    const [file, args] = asServerUser(join(bin, program));
    await run(file, [...args, ...options, '-D', join(directory, 'data')], { cwd: directory });
    const server = new PostgresServer(await freePort(), bin, directory, settings);
    await server.start();
    return server;
  }

  /** A standby that has each commit before it is answered, on a port of its own. */
  async synchronousStandby(): Promise<PostgresServer> {
    const from = `host=127.0.0.1 port=${this.port} user=${USER} application_name=standby`;
    const options = ['--wal-method=stream', '--checkpoint=fast', '--write-recovery-conf', '-d', from];
    const standby = await PostgresServer.#prepared(
      temporaryDirectory(),
      'pg_basebackup',
      options,
      this.#settings,
    );
    await this.#ask(`alter system set synchronous_standby_names = 'standby'`);
    await this.#ask('select pg_reload_conf()');
    const synchronous = `select 1 from pg_stat_replication where sync_state = 'sync'`;
    const deadline = Date.now() + START_MS;
    while ((await this.#ask(synchronous)).length === 0) {
      if (Date.now() > deadline) throw new Error(`the standby did not follow:\n${standby.output}`);
      await delay(POLL_MS);
    }
    return standby;
  }

  /** Makes a standby the primary; resolves when it takes writes. */
  async promote(): Promise<void> {
    await this.#ask('select pg_promote()');
  }

  /**
   * As an operator does who takes a primary out of service: it goes on answering, and writes nothing any more. A write that comes
   * before a connection has heard of it waits for no standby.
   */
  async refuseWrites(): Promise<void> {
    await this.#ask('alter system set default_transaction_read_only = on');
    await this.#ask(`alter system set synchronous_standby_names = ''`);
    await this.#ask('select pg_reload_conf()');
  }

  get url(): string {
    return `postgres://${USER}@127.0.0.1:${this.port}/postgres`;
  }

  get output(): string {
    return this.#output;
  }

  /** Starts it (again) on the same port and data; resolves when it answers. */
  async start(): Promise<void> {
    const path = this.#directory;
    const settings = {
      listen_addresses: '127.0.0.1',
      unix_socket_directories: path,
      max_connections: '200',
      ...this.#settings,
    };
    const [file, args] = asServerUser(join(this.#bin, 'postgres'));
    const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const place = ['-D', join(path, 'data'), '-p', String(this.port)];
    const child = spawn(file, [...args, ...place, ...options], {
      cwd: path,
      env: { ...process.env, TMPDIR: path },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    child.stderr.on('data', (bytes: Buffer) => {
      this.#output = (this.#output + bytes.toString()).slice(-KEPT_OUTPUT);
    });
    this.#child = child;
    const deadline = Date.now() + START_MS;
    while (!(await this.#answers())) {
      if (child.exitCode !== null || Date.now() > deadline) {
        throw new Error(`PostgreSQL did not start:\n${this.#output}`);
      }
      await delay(POLL_MS);
    }
  }

  /** One that this process does not wait for, nor anybody closes: for all files of tests that run in it. */
  static async forThisProcess(): Promise<PostgresServer> {
    const server = await PostgresServer.start({ among: process.env['TESTS_TMPDIR'] });
    letGo(server.#child!);
    return server;
  }

  /** Ends every connection and shuts down in order. */
  stop(): Promise<void> {
    return this.#end('SIGINT');
  }

  /** Ends at once, as in a crash; the next start recovers from the log. */
  crash(): Promise<void> {
    return this.#end('SIGQUIT');
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (!child || child.exitCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  }

  async #ask(text: string): Promise<readonly unknown[]> {
    const client = new Client({ connectionString: this.url });
    await client.connect();
    try {
      return (await client.query(text)).rows;
    } finally {
      await client.end();
    }
  }

  async #answers(): Promise<boolean> {
    const client = new Client({ connectionString: this.url });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.query('select 1');
      return true;
    } catch {
      return false;
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}
