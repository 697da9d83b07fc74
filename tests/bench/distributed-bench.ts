import { mkdirSync } from 'node:fs';
import { loadavg } from 'node:os';
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import {
  COUNTED,
  INSTALLMENTS,
  Loaded,
  OPERATIONS,
  inDatabase,
  openWorld,
  rowsInDatabase,
} from './distributed-world.ts';
import { row, together } from './load.ts';
import type { Load } from './load.ts';
import { childRunning, processorSeconds } from './processor-time.ts';
import { summaryOf } from './profile-summary.ts';
import { pause } from './webhook-bench-world.ts';

/**
 * The distributed profile beside the embedded one, in turns on one machine: real PostgreSQL and Kafka, and the stand-in for
 * EventStoreDB unless EVENTSTORE_URL names a real one. Then each role in a process of its own, for what each costs; with `roles` only
 * that. BENCH_STATEMENTS adds what PostgreSQL executed for each settlement.
 */
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 4);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const BACKLOG = Number(process.env['BENCH_BACKLOG'] ?? 1_500);
/** New processes are slow until their code is compiled: so many settlements are not counted. */
const WARM_UP = Number(process.env['BENCH_WARM_UP'] ?? 2_000);
const COSTED = Number(process.env['BENCH_COSTED'] ?? 4_000);
/** So many of them meet an operation that no process of theirs has seen. */
const COLD = Number(process.env['BENCH_COLD'] ?? 1_000);
/** A directory: profiles of the hot settlements are written there, one for each role, and summed up. */
const PROFILES = process.env['BENCH_PROFILES'];
if (PROFILES !== undefined) mkdirSync(PROFILES, { recursive: true });
const ROLES = ['api', 'projector', 'relay', 'webhooks', 'scheduler'] as const;

const world = await openWorld();
const { embedded, postgres, receiver } = world;

/** How often the server has cleaned a table up, or looked at it anew, by itself. */
const cleanings = (): Promise<number> =>
  inDatabase(postgres.url, 'select sum(autovacuum_count + autoanalyze_count) as n from pg_stat_user_tables');

const busy = (): string => `load average ${loadavg()[0]!.toFixed(1)}`;
const databaseBytes = (): Promise<number> =>
  inDatabase(postgres.url, 'select pg_database_size(current_database()) as n');

const ratios = async (one: Loaded, other: Loaded): Promise<void> => {
  await Promise.all([one, other].map((service) => service.settle(1)));
  const settled: readonly [Load[], Load[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    settled[0].push(await one.settle(SECONDS));
    settled[1].push(await other.settle(SECONDS));
  }
  const [a, b] = [together(settled[0]), together(settled[1])];
  console.log(row(`settlements, ${one.name}`, a));
  console.log(row(`settlements, ${other.name}`, b));
  console.log(`ratio ${(b.perSecond / a.perSecond).toFixed(2)}   (${busy()})\n`);
  const drained: number[][] = [[], []];
  await one.subscribe();
  await other.subscribe();
  for (let round = 0; round < ROUNDS; round++) {
    drained[0]!.push(await one.drain(BACKLOG));
    drained[1]!.push(await other.drain(BACKLOG));
  }
  const [x, y] = drained.map((rates) => rates.reduce((sum, rate) => sum + rate, 0) / rates.length);
  console.log(
    `webhooks from a backlog of ${BACKLOG}: ${one.name} ${x!.toFixed(0)}/s, ${other.name} ${y!.toFixed(0)}/s`,
  );
  console.log(`ratio ${(y! / x!).toFixed(2)}   (${busy()})\n`);
};

/** Processor time that each process takes for a settlement, its projection, its event and its delivery. */
const costs = async (service: Loaded, pids: ReadonlyMap<string, number>): Promise<void> => {
  const read = () => new Map([...pids].map(([name, pid]) => [name, processorSeconds(pid)]));
  const idleSeconds = 4;
  await service.settleSome(WARM_UP);
  await service.arrived(WARM_UP);
  // What came before is cleaned up now, and counts neither as idle time nor as a cost of settlements.
  await rowsInDatabase(postgres.url, 'vacuum (analyze)');
  await pause(2_000);
  const [idleFrom, idleStart] = [read(), performance.now()];
  await pause(idleSeconds * 1_000);
  const idleTo = read();
  const idleFor = (performance.now() - idleStart) / 1_000;
  const idle = (name: string): number => (idleTo.get(name)! - idleFrom.get(name)!) / idleFor;
  const bytesBefore = await databaseBytes();
  const cleanedBefore = await cleanings();
  profile(pids);
  await countStatements();
  const hot = await costed(read, service, { count: COSTED, settle: () => service.settleSome(COSTED) });
  await statements(COSTED);
  profile(pids);
  const bytes = ((await databaseBytes()) - bytesBefore) / COSTED;
  const cleaned = (await cleanings()) - cleanedBefore;
  const cold = await costed(read, service, { count: COLD, settle: () => service.settleKept() });
  console.log(
    'processor time for each, without what the process takes when idle, hot and of operations not seen before:',
  );
  for (const name of pids.keys()) {
    const [each, first] = [hot, cold].map(({ seconds, used }) => used.get(name)! - idle(name) * seconds);
    const us = (value: number, of: number): string => ((value / of) * 1e6).toFixed(0).padStart(6);
    console.log(
      `  ${name.padEnd(12)} ${us(each!, COSTED)} us ${us(first!, COLD)} us   idle ${(idle(name) * 100).toFixed(1).padStart(5)} % of a core`,
    );
  }
  console.log(
    `PostgreSQL grew by ${bytes.toFixed(0)} bytes for each of the hot ones, and cleaned ${cleaned} tables up meanwhile`,
  );
};

const profileOf = (role: string): string => join(PROFILES!, `${role}.cpuprofile`);

/** Begins the roles' profiles, or ends them. What that takes is counted with the settlements, so figures are taken without. */
const profile = (pids: ReadonlyMap<string, number>): void => {
  if (PROFILES !== undefined) for (const role of ROLES) process.kill(pids.get(role)!, 'SIGUSR2');
};

const profiles = (): void => {
  if (PROFILES === undefined) return;
  for (const role of ROLES) console.log(`\nprocessor time of ${role}\n${summaryOf(profileOf(role))}`);
};

/** Begins to count statements anew. */
const countStatements = async (): Promise<void> => {
  if (!COUNTED) return;
  await rowsInDatabase(postgres.url, 'create extension if not exists pg_stat_statements');
  await rowsInDatabase(postgres.url, 'select pg_stat_statements_reset()');
};

/** What PostgreSQL executed for each settlement since, the dearest first. */
const statements = async (settlements: number): Promise<void> => {
  if (!COUNTED) return;
  const counted = await rowsInDatabase<{ calls: string; us: number; wal: string; query: string }>(
    postgres.url,
    `select calls, total_exec_time * 1000 as us, wal_bytes as wal, query from pg_stat_statements order by us desc`,
  );
  const each = (value: number | string): string => (Number(value) / settlements).toFixed(2).padStart(8);
  const all = (of: (one: (typeof counted)[number]) => number): string =>
    each(counted.reduce((sum, one) => sum + of(one), 0));
  console.log('statements of PostgreSQL for each: calls, us of execution, bytes of WAL');
  console.log(
    `${all(({ calls }) => Number(calls))} ${all(({ us }) => us)} ${all(({ wal }) => Number(wal))} all`,
  );
  for (const { calls, us, wal, query } of counted.slice(0, 30))
    console.log(`${each(calls)} ${each(us)} ${each(wal)} ${query.replaceAll(/\s+/g, ' ').slice(0, 150)}`);
};

interface Costed {
  readonly seconds: number;
  /** Seconds of processor time of each process. */
  readonly used: ReadonlyMap<string, number>;
}

const costed = async (
  read: () => ReadonlyMap<string, number>,
  service: Loaded,
  { count, settle }: { readonly count: number; readonly settle: () => Promise<Load> },
): Promise<Costed> => {
  const [from, startedAt] = [read(), performance.now()];
  const settled = await settle();
  await service.arrived(count);
  const seconds = (performance.now() - startedAt) / 1_000;
  const to = read();
  console.log(row('each role a process, settlements', settled));
  console.log(
    `${count} settled, projected, published and delivered in ${seconds.toFixed(1)} s   (${busy()})`,
  );
  return { seconds, used: new Map([...to].map(([name, used]) => [name, used - from.get(name)!])) };
};

/** Texts of the events, as the event store gets them. */
const eventBytes = (): void => {
  const db = new DatabaseSync(join(world.directory, 'embedded', 'events.db'), { readOnly: true });
  const rows = db
    .prepare(
      `select type, count(*) as n, avg(length(cast(data as blob)) + length(cast(metadata as blob))) as bytes
       from events group by type order by type`,
    )
    .all() as unknown as readonly { readonly type: string; readonly n: number; readonly bytes: number }[];
  db.close();
  console.log('bytes of an event, data and metadata:');
  for (const { type, bytes } of rows) console.log(`  ${type.padEnd(36)} ${bytes.toFixed(0)}`);
};

const measure = async (): Promise<void> => {
  console.log(
    `node ${process.version}, PostgreSQL (fsync on), Kafka, ${world.standIn ? 'the stand-in for EventStoreDB' : 'EVENTSTORE_URL'}; ${busy()}\n`,
  );
  const all = await world.distributed('all');
  const empty = await databaseBytes();
  const one = await Loaded.prepare('embedded', embedded, { receiver, waiting: world.waiting.embedded });
  const waiting = world.waiting.distributed;
  const other = await Loaded.prepare('distributed', all, { receiver, waiting });
  const each = ((await databaseBytes()) - empty) / OPERATIONS;
  console.log(
    `PostgreSQL: ${each.toFixed(0)} bytes for an operation of ${INSTALLMENTS} installments, before any settlement\n`,
  );
  if (process.argv[2] === 'roles') await other.subscribe();
  else await ratios(one, other);
  // While there is a process that plays all roles.
  await other.ensure(WARM_UP + COSTED);
  await other.keepBack(COLD);
  await all.end('SIGTERM');
  await embedded.end('SIGTERM');
  const pids = new Map<string, number>();
  for (const role of ROLES) {
    const service =
      PROFILES === undefined ? await world.distributed(role) : await world.profiled(role, profileOf(role));
    pids.set(role, service.pid!);
    if (role === 'api') other.at(service);
  }
  pids.set('PostgreSQL', childRunning('postgres'));
  pids.set('Kafka', childRunning('kafka.Kafka'));
  if (world.standIn) pids.set('stand-in', childRunning('eventstoredb/main.ts'));
  await costs(other, pids);
  profiles();
  eventBytes();
};

try {
  await measure();
} finally {
  await world.close();
}
