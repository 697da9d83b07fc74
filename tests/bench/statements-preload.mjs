import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import sqlite from 'node:sqlite';
import workerThreads from 'node:worker_threads';

/**
 * In each thread of the service: counts the statements that SQLite runs and the commits, and writes how many since the last time when the
 * folder COUNTS_DIR holds a file `take-<n>`.
 */
const { threadId, Worker } = workerThreads;
workerThreads.Worker = class extends Worker {
  constructor(entry, options = {}) {
    super(entry, { ...options, execArgv: [...(options.execArgv ?? []), '--import', import.meta.url] });
  }
};
syncBuiltinESMExports();

let counts = { statements: 0, commits: 0 };
const COMMIT = /^\s*(commit|end)\b/i;
const WRITE = /^\s*(insert|update|delete|replace|with)\b/i;

const count = (database, text) => {
  counts.statements += 1;
  if (COMMIT.test(text) || (WRITE.test(text) && !database.isTransaction && !isReader(database)))
    counts.commits += 1;
};
const readers = new WeakSet();
const isReader = (database) => readers.has(database);

const { DatabaseSync, StatementSync } = sqlite;
const databases = new WeakMap();
const { prepare, exec } = DatabaseSync.prototype;
DatabaseSync.prototype.prepare = function (text, ...more) {
  const statement = prepare.call(this, text, ...more);
  databases.set(statement, { database: this, text });
  return statement;
};
DatabaseSync.prototype.exec = function (text) {
  if (/query_only = ON/.test(text)) readers.add(this);
  for (const one of text.split(';')) if (one.trim() !== '') count(this, one);
  return exec.call(this, text);
};
for (const name of ['run', 'get', 'all', 'iterate']) {
  const original = StatementSync.prototype[name];
  StatementSync.prototype[name] = function (...parameters) {
    const { database, text } = databases.get(this);
    count(database, text);
    return original.apply(this, parameters);
  };
}

const folder = process.env.COUNTS_DIR;
writeFileSync(join(folder, `thread-${threadId}`), '');
let next = 0;
setInterval(() => {
  if (!existsSync(join(folder, `take-${next}`))) return;
  const taken = counts;
  counts = { statements: 0, commits: 0 };
  const file = join(folder, `counts-${next}-${threadId}.json`);
  writeFileSync(`${file}.part`, JSON.stringify(taken));
  renameSync(`${file}.part`, file);
  next += 1;
}, 20).unref();
