/**
 * The import rules of the architecture, run by tests/architecture/import-rules.test.ts.
 * Modules of Node.js appear without their `node:`, but for those that exist only with it (`node:sqlite`).
 */
const PRODUCTION = '^(domain|application|projections|infrastructure)/';
const packages = (...names) => `(^|node_modules/)(${names.join('|').replaceAll('.', '\\.')})(/|$)`;

/** What every module of the application may build on, and what knows none of them. */
const KERNEL = 'ports|sql|schemas|support|event-codec|command-handling|coordination|processors|projecting';

/** One home a technology: which folders may import it, and nobody else. */
const homes = [
  ['decimal.js', '^domain/', packages('decimal.js')],
  ['inversify', '^infrastructure/composition/container\\.ts$', packages('inversify', 'reflect-metadata')],
  ['express', '^infrastructure/(http|console)/', packages('express', 'multer')],
  [
    'pages',
    '^infrastructure/console/',
    packages('preact', 'preact-render-to-string', 'htm', 'htmx.org', '@picocss/pico', 'chart.js'),
  ],
  [
    'eventstoredb',
    '^infrastructure/eventstoredb/',
    packages('@eventstore/db-client', '@grpc/grpc-js', 'google-protobuf'),
  ],
  ['kafka', '^infrastructure/kafka/', packages('kafkajs')],
  ['sql', '^(application|infrastructure/(sqlite|postgres))/', packages('kysely')],
  ['postgres', '^infrastructure/postgres/', packages('pg')],
  ['sqlite', '^infrastructure/(sqlite|embedded)/', '^(node:)?sqlite$'],
  ['outgoing-http', '^infrastructure/webhooks/', packages('undici', 'ipaddr.js')],
  ['tokens', '^infrastructure/security/', packages('jose')],
  ['sign-in', '^infrastructure/openid/', packages('openid-client')],
  ['command-line', '^infrastructure/cli/', packages('commander', 'open')],
  ['documents', '^infrastructure/documents/', packages('unpdf', 'yauzl', 'aws4fetch')],
  ['guides', '^infrastructure/http/docs/guides/', packages('markdown-it', 'minisearch')],
  ['csv', '^infrastructure/(statements|presenting)/', packages('csv-parse', 'csv-stringify')],
  ['logging', '^infrastructure/observability/', packages('pino')],
  [
    'metrics-and-traces',
    '^infrastructure/observability/',
    [packages('prom-client'), 'node_modules/@opentelemetry/'],
  ],
  [
    'schemas',
    '^(application/(event-codec|schemas)|infrastructure/(http|composition))/',
    packages('ajv', 'ajv-formats'),
  ],
  // Types only, which is why it is a development package: docs/decisions/0045.
  ['types-of-schemas', '^application/schemas/', packages('typebox')],
];

module.exports = {
  forbidden: [
    {
      name: 'domain-is-pure',
      comment:
        'The rules know nothing but themselves and exact decimals: no clock, no randomness, no input or output.',
      severity: 'error',
      from: { path: '^domain/' },
      to: { pathNot: ['^domain/', packages('decimal.js')] },
    },
    {
      name: 'application-looks-inward',
      comment:
        'Use cases see the domain, seams, SQL as kysely writes it and the shapes of read models; of Node.js only node:crypto.',
      severity: 'error',
      from: { path: '^application/' },
      to: {
        pathNot: [
          '^(domain|application|projections)/',
          '^crypto$',
          packages('ajv', 'ajv-formats', 'kysely', 'lru-cache', 'typebox'),
        ],
      },
    },
    {
      name: 'application-takes-only-types-of-projections',
      severity: 'error',
      from: { path: '^application/' },
      to: { path: '^projections/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'kernel-knows-no-module',
      comment: 'Commands, codec, schemas, SQL, processors and their support stand below every capability.',
      severity: 'error',
      from: { path: `^application/(${KERNEL})/` },
      to: { path: '^application/', pathNot: `^application/(${KERNEL})/` },
    },
    {
      name: 'projections-see-events-only',
      severity: 'error',
      from: { path: '^projections/' },
      to: { pathNot: '^(domain|projections)/' },
    },
    {
      name: 'projections-take-only-types-of-the-domain',
      severity: 'error',
      from: { path: '^projections/' },
      to: { path: '^domain/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'adapters-stand-apart',
      comment:
        'An adapter never imports another one, but for what several build on: SQLite, PostgreSQL, support without a technology, and what doors present alike.',
      severity: 'error',
      from: { path: '^infrastructure/([^/]+)/', pathNot: '^infrastructure/composition/' },
      to: { path: '^infrastructure/', pathNot: '^infrastructure/($1|presenting|sqlite|postgres|support)/' },
    },
    {
      name: 'nothing-imports-composition',
      severity: 'error',
      from: { path: PRODUCTION, pathNot: '^infrastructure/composition/' },
      to: { path: '^infrastructure/composition/' },
    },
    {
      name: 'production-never-imports-tests',
      severity: 'error',
      from: { path: PRODUCTION },
      to: { path: '^(tests|clients)/' },
    },
    {
      name: 'clients-need-nothing',
      comment: 'What integrators install brings no other package, and nothing of the service.',
      severity: 'error',
      from: { path: '^clients/typescript/src/' },
      to: { pathNot: ['^clients/typescript/src/', '^crypto$'] },
    },
    {
      name: 'production-needs-no-development-package',
      severity: 'error',
      from: { path: PRODUCTION },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    },
    { name: 'no-cycles', severity: 'error', from: { path: PRODUCTION }, to: { circular: true } },
    { name: 'everything-resolves', severity: 'error', from: {}, to: { couldNotResolve: true } },
    ...homes.map(([name, home, technology]) => ({
      name: `home-of-${name}`,
      severity: 'error',
      from: { path: PRODUCTION, pathNot: home },
      to: { path: technology },
    })),
  ],
  options: {
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
  },
};
