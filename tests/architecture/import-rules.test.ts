import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const PRODUCTION = ['domain', 'application', 'projections', 'infrastructure'];
const CLIENT = 'clients/typescript/src';
const CONFIGURATION = join(ROOT, '.dependency-cruiser.cjs');

interface Violation {
  readonly from: string;
  readonly to: string;
  readonly rule: { readonly name: string };
}

interface Imports {
  readonly source: string;
  readonly dependencies: readonly { readonly resolved: string }[];
}

interface Cruise {
  readonly modules: readonly Imports[];
  readonly summary: { readonly violations: readonly Violation[] };
}

/** What is imported in the tree at `directory`, and what breaks the rules there. */
const cruised = async (directory: string): Promise<Cruise> => {
  const program = join(ROOT, 'node_modules', 'dependency-cruiser', 'bin', 'dependency-cruiser.mjs');
  const args = [program, '--config', CONFIGURATION, '--output-type', 'json', ...PRODUCTION, CLIENT];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    cwd: directory,
    maxBuffer: 2 ** 26,
  });
  return JSON.parse(stdout) as Cruise;
};

// All files are read: seconds, and many of them on a busy machine.
jest.setTimeout(120_000);

/** A module of the application, an adapter, a part of the domain; a file that lies beside them stands for itself. */
const folderOf = (file: string): string => file.split('/').slice(0, 2).join('/');

/** Folders that import each other, directly or by way of others: what is left once all are taken that need no other of the rest. */
const folderCircles = (modules: readonly Imports[]): readonly string[] => {
  const needs = new Map<string, Set<string>>();
  for (const { source, dependencies } of modules) {
    const from = folderOf(source);
    const to = dependencies.map(({ resolved }) => folderOf(resolved)).filter((folder) => folder !== from);
    needs.set(from, new Set([...(needs.get(from) ?? []), ...to]));
  }
  for (let before = -1; before !== needs.size;) {
    before = needs.size;
    for (const [folder, others] of needs)
      if (![...others].some((other) => needs.has(other))) needs.delete(folder);
  }
  return [...needs.keys()];
};

describe('the tree', () => {
  let tree: Cruise;
  beforeAll(async () => {
    tree = await cruised(ROOT);
  });

  test('every import keeps the rules', () => {
    const broken = tree.summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} -> ${to}`);
    expect(broken).toEqual([]);
  });

  test('no two folders need each other', () => {
    expect(folderCircles(tree.modules)).toEqual([]);
  });
});

test('two folders are a circle where no file is', () => {
  const file = (source: string, ...resolved: readonly string[]) => ({
    source,
    dependencies: resolved.map((one) => ({ resolved: one })),
  });
  const halves = [file('application/a/x.ts', 'application/b/y.ts'), file('application/b/y.ts')];
  expect(folderCircles(halves)).toEqual([]);
  expect(folderCircles([...halves, file('application/b/z.ts', 'application/a/w.ts')])).toEqual([
    'application/a',
    'application/b',
  ]);
});

/** For each rule, an import that it must refuse. */
const REFUSED: readonly (readonly [rule: string, file: string, line: string])[] = [
  ['domain-is-pure', 'domain/clock.ts', "import 'node:timers';"],
  ['domain-is-pure', 'domain/random.ts', "import { randomUUID } from 'node:crypto';"],
  ['domain-is-pure', 'domain/outwards.ts', "import type { Kept } from '../application/kept.ts';"],
  ['domain-is-pure', 'domain/library.ts', "import { LRUCache } from 'lru-cache';"],
  ['application-looks-inward', 'application/file.ts', "import { readFile } from 'node:fs/promises';"],
  ['application-looks-inward', 'application/library.ts', "import express from 'express';"],
  ['kernel-knows-no-module', 'application/sql/up.ts', "import type { Kept } from '../loans/kept.ts';"],
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
  ['home-of-sign-in', 'infrastructure/console/provider.ts', "import { discovery } from 'openid-client';"],
  ['projections-see-events-only', 'projections/library.ts', "import { LRUCache } from 'lru-cache';"],
  [
    'projections-take-only-types-of-the-domain',
    'projections/rule.ts',
    "import { kept } from '../domain/kept.ts';",
  ],
  [
    'adapters-stand-apart',
    'infrastructure/sqlite/tables.ts',
    "import type { Kept } from '../kafka/kept.ts';",
  ],
  [
    'adapters-stand-apart',
    'infrastructure/postgres/tables.ts',
    "import type { Kept } from '../kafka/kept.ts';",
  ],
  ['adapters-stand-apart', 'infrastructure/presenting/door.ts', "import { kept } from '../http/kept.ts';"],
  ['adapters-stand-apart', 'infrastructure/http/other.ts', "import type { Kept } from '../kafka/kept.ts';"],
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
  ['production-never-imports-tests', 'infrastructure/http/own.ts', `import '../../${CLIENT}/kept.ts';`],
  ['clients-need-nothing', `${CLIENT}/library.ts`, "import { request } from 'undici';"],
  ['clients-need-nothing', `${CLIENT}/service.ts`, "import { kept } from '../../../domain/kept.ts';"],
  ['production-needs-no-development-package', 'infrastructure/http/dev.ts', "import fc from 'fast-check';"],
  ['no-cycles', 'domain/egg.ts', "import type { Hen } from './hen.ts';"],
  ['everything-resolves', 'domain/missing.ts', "import { nothing } from './nothing.ts';"],
  ['home-of-decimal.js', 'application/decimal.ts', "import { Decimal } from 'decimal.js';"],
  ['home-of-inversify', 'infrastructure/http/container.ts', "import { Container } from 'inversify';"],
  ['home-of-inversify', 'infrastructure/http/reflect.ts', "import 'reflect-metadata';"],
  ['home-of-inversify', 'infrastructure/composition/work.ts', "import { Container } from 'inversify';"],
  ['home-of-express', 'infrastructure/composition/express.ts', "import express from 'express';"],
  ['home-of-express', 'infrastructure/webhooks/forms.ts', "import multer from 'multer';"],
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
  ['home-of-guides', 'infrastructure/http/markdown.ts', "import MarkdownIt from 'markdown-it';"],
  ['home-of-guides', 'application/loans/search.ts', "import MiniSearch from 'minisearch';"],
  ['home-of-csv', 'infrastructure/kafka/csv.ts', "import { parse } from 'csv-parse';"],
  ['home-of-csv', 'application/reconciliation/csv.ts', "import { stringify } from 'csv-stringify/sync';"],
  ['home-of-logging', 'infrastructure/http/pino.ts', "import { pino } from 'pino';"],
  ['home-of-metrics-and-traces', 'infrastructure/kafka/prom.ts', "import { Counter } from 'prom-client';"],
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
  ['application/loans/kept.ts', "import 'kysely'; import 'lru-cache'; export type Kept = 1;"],
  ['application/reads.ts', "import type { Kept } from '../projections/kept.ts'; export type Reads = Kept;"],
  [
    'projections/kept.ts',
    "import type { Hen } from '../domain/hen.ts'; export const kept = 1; export type Kept = Hen;",
  ],
  [
    'infrastructure/http/kept.ts',
    "import express from 'express'; import '../presenting/kept.ts'; export const kept = express;",
  ],
  ['infrastructure/presenting/kept.ts', 'export const kept = 1;'],
  ['infrastructure/support/kept.ts', 'export const kept = 1;'],
  [
    'infrastructure/sqlite/kept.ts',
    "import 'node:sqlite'; import { kept } from '../support/kept.ts'; export { kept };",
  ],
  ['infrastructure/postgres/kept.ts', "import { Pool } from 'pg'; export const kept = Pool;"],
  [
    'infrastructure/kafka/kept.ts',
    "import '../sqlite/kept.ts'; import '../postgres/kept.ts'; import 'kafkajs'; export type Kept = 1;",
  ],
  [
    'infrastructure/composition/kept.ts',
    "import '../http/kept.ts'; import '../kafka/kept.ts'; export const kept = 1;",
  ],
  [
    'infrastructure/composition/container.ts',
    "import { kept } from './kept.ts'; import 'inversify'; export { kept };",
  ],
  ['tests/kept.ts', 'export const kept = 1;'],
  [`${CLIENT}/kept.ts`, "import 'node:crypto'; import './other.ts'; export const kept = 1;"],
  [`${CLIENT}/other.ts`, 'export const other = 1;'],
];

describe('the rules bite', () => {
  const directory = temporaryDirectory();
  let violations: readonly Violation[];
  beforeAll(async () => {
    const tree = [...ALLOWED, ...REFUSED.map(([, file, line]) => [file, line] as const)];
    for (const [file, line] of tree) {
      await mkdir(dirname(join(directory, file)), { recursive: true });
      await writeFile(join(directory, file), `${line}\nexport type Egg = unknown;\n`);
    }
    await symlink(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
    await symlink(join(ROOT, 'package.json'), join(directory, 'package.json'));
    ({ violations } = (await cruised(directory)).summary);
  });

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
