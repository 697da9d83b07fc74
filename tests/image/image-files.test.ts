import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { validate } from 'dockerfile-utils';
import { parse } from 'yaml';
import { GUIDES } from '../../infrastructure/http/docs/guides/guide-list.ts';
import { readConfiguration } from '../../infrastructure/composition/configuration.ts';

interface Service {
  readonly image?: string;
  readonly build?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly deploy?: { readonly resources?: { readonly limits?: object } };
}
interface ComposeFile {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

const file = (name: string): string => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
const dockerfile = file('Dockerfile');
const compose = parse(file('docker-compose.yml'), { merge: true }) as ComposeFile;
const engines = Object.entries(compose.services).filter(
  ([name]) => !['receivables', 'balancer'].includes(name),
);
const service = compose.services['receivables']!;

/** What compose puts in for `${NAME:-default}` where nothing is set. */
const withDefaults = (text: string): string => text.replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1');

describe('Dockerfile', () => {
  test('has no finding of the linter', () => {
    expect(validate(dockerfile)).toEqual([]);
  });

  test('builds on the Node.js that the tests run on, by its exact version', () => {
    const { devDependencies } = JSON.parse(file('package.json')) as { devDependencies: { node: string } };
    const bases = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image);
    expect(new Set(bases)).toEqual(new Set([`node:${devDependencies.node}-bookworm-slim`]));
  });

  test('does not run as root, brings no tool of development, and says how its health is asked', () => {
    expect(dockerfile).toMatch(/^USER node$/m);
    expect(dockerfile).toContain('npm ci --omit=dev');
    expect(dockerfile).toMatch(/^HEALTHCHECK .*\/health\/live/m);
    expect(dockerfile).not.toMatch(/^COPY .*(tests|\.env|data)\b/m);
  });

  test('brings every guide that the service shows', () => {
    expect(dockerfile).toMatch(/^COPY docs \.\/docs$/m);
    const rules = file('.dockerignore').split('\n');
    const isLetIn = (path: string): boolean => {
      const last = rules.findLast(
        (rule) => rule === '*' || `${path}/`.startsWith(`${rule.replace('!', '')}/`),
      );
      return last?.startsWith('!') === true;
    };
    expect(GUIDES.length).toBeGreaterThan(10);
    expect(GUIDES.filter((guide) => !isLetIn(`docs/${guide.file}`))).toEqual([]);
    expect(isLetIn('docs/images/console-today.png')).toBe(false);
  });
});

describe('docker-compose.yml', () => {
  test('every engine has a pinned version, a health check and a volume, and the service waits for all of them', () => {
    for (const [, engine] of engines) {
      expect(engine.image).toMatch(/^[\w./-]+:\d+\.\d+(\.\d+)?(-[\w.]+)?$/);
      expect(engine.healthcheck?.test.length).toBeGreaterThan(1);
      expect(engine.volumes?.length).toBeGreaterThan(0);
    }
    expect(service.depends_on).toEqual(
      Object.fromEntries(engines.map(([name]) => [name, { condition: 'service_healthy' }])),
    );
  });

  test('every volume that is used is declared, and none besides', () => {
    const used = Object.values(compose.services).flatMap(({ volumes = [] }) =>
      volumes.map((volume) => volume.split(':')[0]).filter((name) => !name?.startsWith('.')),
    );
    expect(new Set(used)).toEqual(new Set(Object.keys(compose.volumes)));
  });

  test('only the balancer publishes a port, and no container gets more rights or memory than it needs', () => {
    for (const [name, container] of Object.entries(compose.services)) {
      expect([name, container.ports !== undefined]).toEqual([name, name === 'balancer']);
      expect(container.image ?? container.build).toMatch(/^\.$|:\d+\.\d+(\.\d+)?(-[\w.]+)?$/);
      expect(container.cap_drop).toEqual(['ALL']);
      expect(container.security_opt).toEqual(['no-new-privileges:true']);
      expect(container.deploy?.resources?.limits).toEqual({
        cpus: expect.any(String),
        memory: expect.any(String),
      });
    }
  });

  test('the event store meets no variable of the service', () => {
    const own = Object.keys(compose.services['eventstore']?.environment ?? {});
    expect(own.filter((name) => name in (service.environment ?? {}))).toEqual([]);
    expect(Object.values(compose.services).filter((container) => 'env_file' in container)).toEqual([]);
  });

  test('PostgreSQL takes the connections of all replicas that the balancer knows', () => {
    const [, replicas] = /server-template replica (\d+) /.exec(file('docs/operations/haproxy.cfg')) ?? [];
    const [, connections] = /max_connections=(\d+)/.exec(file('docker-compose.yml')) ?? [];
    expect(Number(connections)).toBeGreaterThanOrEqual(20 * Number(replicas) + 20);
  });

  test('the environment of the service is one that the service starts with, on all three engines', () => {
    const environment = Object.fromEntries(
      Object.entries(service.environment ?? {}).map(([name, value]) => [name, withDefaults(value)]),
    );
    expect(readConfiguration(environment)).toMatchObject({
      environment: 'sandbox',
      engines: {
        eventStoreUrl: expect.stringContaining('esdb://eventstore:'),
        kafkaBrokers: expect.anything(),
        databaseUrl: expect.stringContaining('@postgres:'),
      },
    });
    const known = file('docs/configuration.md');
    for (const name of Object.keys(environment)) expect(known).toContain(name);
  });
});
