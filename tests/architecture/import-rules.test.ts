import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const PRODUCTION = ['domain', 'application', 'projections', 'infrastructure'];
const CONFIGURATION = join(ROOT, '.dependency-cruiser.cjs');

interface Violation {
  readonly from: string;
  readonly to: string;
  readonly rule: { readonly name: string };
}

/** What breaks the rules in the tree at `directory`. */
const violationsIn = async (directory: string): Promise<readonly Violation[]> => {
  const program = join(ROOT, 'node_modules', 'dependency-cruiser', 'bin', 'dependency-cruiser.mjs');
  const args = [program, '--config', CONFIGURATION, '--output-type', 'json', ...PRODUCTION];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    cwd: directory,
    maxBuffer: 2 ** 26,
  });
  return (JSON.parse(stdout) as { summary: { violations: Violation[] } }).summary.violations;
};

// All files are read: seconds, and many of them on a busy machine.
jest.setTimeout(120_000);

test('every import keeps the rules', async () => {
  const broken = (await violationsIn(ROOT)).map(({ rule, from, to }) => `${rule.name}: ${from} -> ${to}`);
  expect(broken).toEqual([]);
});

/** For each rule, an import that it must refuse. */
const REFUSED: readonly (readonly [rule: string, file: string, line: string])[] = [
  ['domain-is-pure', 'domain/clock.ts', "import 'node:timers';"],
  ['domain-is-pure', 'domain/random.ts', "import { randomUUID } from 'node:crypto';"],
  ['domain-is-pure', 'domain/outwards.ts', "import type { Kept } from '../application/kept.ts';"],
  ['domain-is-pure', 'domain/library.ts', "import { LRUCache } from 'lru-cache';"],
  ['application-looks-inward', 'application/file.ts', "import { readFile } from 'node:fs/promises';"],
  ['application-looks-inward', 'application/library.ts', "import { LRUCache } from 'lru-cache';"],
  [
    'application-looks-inward',
    'application/adapter.ts',
    "import { kept } from '../infrastructure/http/kept.ts';",
  ],
  [
    'application-takes-only-types-of-projections',
    'application/view.ts',
    "import { kept } from '../projections/kept.ts';",
  ],
  [
    'projections-see-events-only',
    'projections/port.ts',
    "import type { Kept } from '../application/kept.ts';",
  ],
  ['projections-see-events-only', 'projections/library.ts', "import { LRUCache } from 'lru-cache';"],
  [
    'projections-take-only-types-of-the-domain',
    'projections/rule.ts',
    "import { kept } from '../domain/kept.ts';",
  ],
  ['adapters-stand-apart', 'infrastructure/sqlite/tables.ts', "import type { Kept } from '../sql/kept.ts';"],
  [
    'adapters-stand-apart',
    'infrastructure/postgres/tables.ts',
    "import type { Kept } from '../sql/kept.ts';",
  ],
  ['adapters-stand-apart', 'infrastructure/http/other.ts', "import type { Kept } from '../sql/kept.ts';"],
  [
    'nothing-imports-composition',
    'infrastructure/http/top.ts',
    "import { kept } from '../composition/kept.ts';",
  ],
  [
    'production-never-imports-tests',
    'infrastructure/http/test.ts',
    "import { kept } from '../../tests/kept.ts';",
  ],
  ['production-needs-no-development-package', 'infrastructure/http/dev.ts', "import fc from 'fast-check';"],
  ['no-cycles', 'domain/egg.ts', "import type { Hen } from './hen.ts';"],
  ['everything-resolves', 'domain/missing.ts', "import { nothing } from './nothing.ts';"],
  ['home-of-decimal.js', 'application/decimal.ts', "import { Decimal } from 'decimal.js';"],
  ['home-of-inversify', 'infrastructure/http/container.ts', "import { Container } from 'inversify';"],
  ['home-of-inversify', 'infrastructure/http/reflect.ts', "import 'reflect-metadata';"],
  ['home-of-express', 'infrastructure/composition/express.ts', "import express from 'express';"],
  ['home-of-express', 'infrastructure/webhooks/forms.ts', "import { Busboy } from '@fastify/busboy';"],
  ['home-of-pages', 'infrastructure/http/page.ts', "import { h } from 'preact';"],
  ['home-of-pages', 'infrastructure/cli/page.ts', "import htm from 'htm';"],
  [
    'home-of-eventstoredb',
    'infrastructure/embedded/esdb.ts',
    "import type { Position } from '@eventstore/db-client';",
  ],
  ['home-of-kafka', 'infrastructure/embedded/kafka.ts', "import { Kafka } from 'kafkajs';"],
  ['home-of-sqlite', 'infrastructure/http/sqlite.ts', "import { DatabaseSync } from 'node:sqlite';"],
  ['home-of-sql', 'infrastructure/http/kysely.ts', "import type { Kysely } from 'kysely';"],
  ['home-of-postgres', 'infrastructure/http/pg.ts', "import pg from 'pg';"],
  ['home-of-outgoing-http', 'infrastructure/http/undici.ts', "import { request } from 'undici';"],
  ['home-of-outgoing-http', 'infrastructure/http/address.ts', "import ipaddr from 'ipaddr.js';"],
  ['home-of-tokens', 'infrastructure/http/jose.ts', "import { jwtVerify } from 'jose';"],
  ['home-of-command-line', 'infrastructure/composition/commander.ts', "import { Command } from 'commander';"],
  ['home-of-documents', 'infrastructure/http/pdf.ts', "import { getDocument } from 'unpdf/pdfjs';"],
  ['home-of-documents', 'infrastructure/http/zip.ts', "import { openPromise } from 'yauzl';"],
  ['home-of-documents', 'infrastructure/http/s3.ts', "import { AwsClient } from 'aws4fetch';"],
  ['home-of-csv', 'infrastructure/sql/csv.ts', "import { parse } from 'csv-parse';"],
  ['home-of-csv', 'application/reconciliation/csv.ts', "import { stringify } from 'csv-stringify/sync';"],
  ['home-of-logging', 'infrastructure/http/pino.ts', "import { pino } from 'pino';"],
  ['home-of-metrics-and-traces', 'infrastructure/sql/prom.ts', "import { Counter } from 'prom-client';"],
  [
    'home-of-metrics-and-traces',
    'infrastructure/http/otel.ts',
    "import { trace } from '@opentelemetry/api';",
  ],
  ['home-of-schemas', 'infrastructure/webhooks/ajv.ts', "import { Ajv } from 'ajv';"],
  ['home-of-types-of-schemas', 'infrastructure/http/typebox.ts', "import type { Static } from 'typebox';"],
  [
    'production-needs-no-development-package',
    'application/schemas/typebox.ts',
    "import { Type } from 'typebox';",
  ],
];

/** What the rules must leave alone. */
const ALLOWED: readonly (readonly [file: string, line: string])[] = [
  ['domain/kept.ts', "import { Decimal } from 'decimal.js'; export const kept = Decimal;"],
  ['domain/hen.ts', "import type { Egg } from './egg.ts'; export interface Hen { egg: Egg }"],
  [
    'application/kept.ts',
    "import { kept } from '../domain/kept.ts'; import 'node:crypto'; export type Kept = typeof kept;",
  ],
  ['application/reads.ts', "import type { Kept } from '../projections/kept.ts'; export type Reads = Kept;"],
  [
    'projections/kept.ts',
    "import type { Hen } from '../domain/hen.ts'; export const kept = 1; export type Kept = Hen;",
  ],
  ['infrastructure/http/kept.ts', "import express from 'express'; export const kept = express;"],
  ['infrastructure/support/kept.ts', 'export const kept = 1;'],
  [
    'infrastructure/sqlite/kept.ts',
    "import 'node:sqlite'; import { kept } from '../support/kept.ts'; export { kept };",
  ],
  ['infrastructure/postgres/kept.ts', "import { Pool } from 'pg'; export const kept = Pool;"],
  [
    'infrastructure/sql/kept.ts',
    "import '../sqlite/kept.ts'; import '../postgres/kept.ts'; import 'node:sqlite'; import 'kysely'; export type Kept = 1;",
  ],
  [
    'infrastructure/composition/kept.ts',
    "import '../http/kept.ts'; import '../sql/kept.ts'; export const kept = 1;",
  ],
  [
    'infrastructure/composition/wires.ts',
    "import { kept } from './kept.ts'; import 'inversify'; export { kept };",
  ],
  ['tests/kept.ts', 'export const kept = 1;'],
];

describe('the rules bite', () => {
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  let violations: readonly Violation[];
  beforeAll(async () => {
    directory = await temporaryDirectory();
    const tree = [...ALLOWED, ...REFUSED.map(([, file, line]) => [file, line] as const)];
    for (const [file, line] of tree) {
      await mkdir(dirname(join(directory.path, file)), { recursive: true });
      await writeFile(join(directory.path, file), `${line}\nexport type Egg = unknown;\n`);
    }
    await symlink(join(ROOT, 'node_modules'), join(directory.path, 'node_modules'));
    await symlink(join(ROOT, 'package.json'), join(directory.path, 'package.json'));
    violations = await violationsIn(directory.path);
  });
  afterAll(() => directory.remove());

  test.each(REFUSED)('%s refuses %s: %s', (rule, file) => {
    expect(violations.filter(({ from }) => from === file).map((violation) => violation.rule.name)).toContain(
      rule,
    );
  });

  test('what is allowed is not reported', () => {
    const files = new Set(violations.map(({ from }) => from));
    expect(
      ALLOWED.map(([file]) => file).filter((file) => files.has(file) && file !== 'domain/hen.ts'),
    ).toEqual([]);
  });

  test('there is such a proof for every rule', () => {
    const { forbidden } = createRequire(import.meta.url)(CONFIGURATION) as { forbidden: { name: string }[] };
    expect(new Set(REFUSED.map(([rule]) => rule))).toEqual(new Set(forbidden.map(({ name }) => name)));
  });
});
