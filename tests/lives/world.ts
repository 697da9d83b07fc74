import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { markOverdue, dueBefore } from '../../application/loans/overdue.ts';
import { PATIENTLY } from '../../application/administrator/decisions.ts';
import { retry, retryUntilAvailable } from '../../application/support/retry.ts';
import { readConfiguration } from '../../infrastructure/composition/configuration.ts';
import { partsOf } from '../../infrastructure/composition/container.ts';
import { openFoundations } from '../../infrastructure/composition/foundations.ts';
import type { Parts } from '../../infrastructure/composition/parts.ts';
import { startService } from '../../infrastructure/composition/service.ts';
import { cents } from '../../domain/shared/money.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import { loanProjection } from '../../projections/loan/loan-projection.ts';
import { filesWait } from '../support/api-client.ts';
import { commandLine } from '../support/command-line.ts';
import type { CommandResult } from '../support/command-line.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { freePort } from '../support/service-process.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { Gate } from './gate.ts';
import type { Now } from './model/inputs.ts';
import type { Covered } from './model/two-people-rule.ts';

type Json = ReturnType<typeof JSON.parse>;

export interface Answer {
  readonly status: number;
  readonly replayed: boolean;
  readonly body: Json;
}

export interface HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: object | FormData;
}

export interface TestApplication {
  readonly applicationId: string;
  readonly clientId: string;
  readonly funds: readonly string[];
}

interface AskedRule {
  readonly fund: string;
  readonly covered: Covered;
  readonly id: string;
  readonly by: string;
}

const NOON_IN_SAO_PAULO = '2026-06-20T15:00:00.000Z';
const DAY_MS = 86_400_000;
const PATIENCE_MS = 60_000;
const MOST_SHOWN = 20;

/**
 * The whole service in this process, on a clock that only tests move, in a production where nothing is decided by itself. Many
 * lives go on in it at once, each in applications of its own; a restart waits for their steps, and they wait for it.
 */
export class World {
  readonly dataDir: string;
  readonly clock: ManualClock;
  readonly logger = new RecordingLogger();
  readonly gate = new Gate();
  /** Processes of an earlier release are at work on the same engines, or may be. */
  besideEarlier = false;
  /** Which of several processes on the same engines takes the next request; default: this one. */
  address = (): string => this.environment['PUBLIC_URL']!;
  /** Where another process has a clock of its own; undefined: a token of this one. */
  tokenAt = (_address: string, _application: TestApplication): Promise<string | undefined> =>
    Promise.resolve(undefined);
  /** Who takes the next decisions; answers their outcomes. */
  decisionDesk = (texts: readonly string[]): Promise<readonly string[]> => this.#submit(texts);
  readonly environment: Readonly<Record<string, string>>;
  readonly #tokens = new Map<string, string>();
  #service: Awaited<ReturnType<typeof startService>> | undefined;
  #privacy = Promise.resolve();

  private constructor(parts: {
    readonly clock: ManualClock;
    readonly environment: Readonly<Record<string, string>>;
  }) {
    this.dataDir = parts.environment['DATA_DIR']!;
    this.clock = parts.clock;
    this.environment = parts.environment;
  }

  /** @param like a world whose data this one finds in `DATA_DIR` or in the engines that the variables name */
  static async start(variables: Readonly<Record<string, string>> = {}, like?: World): Promise<World> {
    const address = `http://127.0.0.1:${await freePort()}`;
    const environment = {
      ...(like ? like.environment : { MASTER_KEY: randomBytes(32).toString('base64') }),
      ...{ HOST: '127.0.0.1', PORT: new URL(address).port, PUBLIC_URL: address, AUTH_URL: address },
      ...{ ENVIRONMENT: 'production', METRICS_PORT: 'off', DATA_DIR: temporaryDirectory() },
      ...variables,
    };
    const clock = new ManualClock(like ? like.clock.now() : NOON_IN_SAO_PAULO);
    const world = new World({ clock, environment });
    await world.#start();
    return world;
  }

  async #start(): Promise<void> {
    const foundations = await openFoundations(readConfiguration(this.environment), this.logger);
    this.#service = await startService({ ...foundations, clock: this.clock });
  }

  get parts(): Parts {
    return this.#service!.parts;
  }

  now(): Now {
    return { now: this.clock.now(), today: this.clock.today(), besideEarlier: this.besideEarlier };
  }

  async stop(): Promise<void> {
    await this.#service?.stop();
    this.#service = undefined;
  }

  /** While nobody is in the middle of anything. */
  restart(): Promise<void> {
    return this.gate.alone(async () => {
      await this.stop();
      await this.#start();
    });
  }

  /** What fell due is marked before this resolves, of all that reads have shown as active. */
  async pass(days: number): Promise<void> {
    this.clock.advance(days * DAY_MS);
    this.#tokens.clear();
    await this.sweep();
  }

  async sweep(): Promise<void> {
    if (this.besideEarlier) await this.#caughtUp();
    const { commands, readModelDatabase } = this.parts;
    const { clock, logger } = this;
    const marking = { commands, dueBefore: dueBefore.bind(undefined, readModelDatabase), clock, logger };
    await markOverdue(marking, new AbortController().signal);
  }

  /** The other process may have shown what is not in the read model of this release yet, where a sweep looks. */
  async #caughtUp(): Promise<void> {
    for (;;) {
      const { followers } = await this.parts.maintenance.lag();
      const { behind, problem } = followers.find(({ name }) => name === loanProjection.name)!;
      if (behind === 0 && problem === undefined) return;
      await setTimeout(20);
    }
  }

  /** An application without a secret: its tokens are issued here, because guarding secrets takes a long time by design. */
  async createApplication(): Promise<TestApplication> {
    const [applicationId, clientId, funds] = [randomUUID(), randomUUID(), [randomUUID(), randomUUID()]];
    const client = { applicationId, clientId, name: 'life', rateLimitMultiplier: 1_000, revokedAt: null };
    const { clientRegistry } = this.parts;
    await clientRegistry.create({ ...client, createdAt: this.clock.now(), secretHash: 'none' }, funds);
    return { applicationId, clientId, funds };
  }

  async #tokenOf({ applicationId, clientId }: TestApplication): Promise<string> {
    const known = this.#tokens.get(clientId);
    if (known !== undefined) return known;
    const client = { applicationId, clientId, name: 'life', rateLimitMultiplier: 1_000, revokedAt: null };
    const { accessToken } = await this.parts.tokens.issue({ ...client, createdAt: this.clock.now() });
    this.#tokens.set(clientId, accessToken);
    return accessToken;
  }

  /** As an integrator calls: again where it was not the moment, as when a busy machine keeps reads too far behind writes, or files waiting. */
  async call(application: TestApplication, request: HttpRequest): Promise<Answer> {
    for (const deadline = Date.now() + PATIENCE_MS; ;) {
      const answer = await this.#call(application, request);
      const early = answer.status === 503 || filesWait(answer);
      if (!early || Date.now() > deadline) return answer;
      await setTimeout(100);
    }
  }

  async #call(application: TestApplication, { method, path, body }: HttpRequest): Promise<Answer> {
    const json = body !== undefined && !(body instanceof FormData);
    const address = this.address();
    const token = (await this.tokenAt(address, application)) ?? (await this.#tokenOf(application));
    const response = await fetch(address + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(json && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: json ? JSON.stringify(body) : body }),
    });
    const text = await response.text();
    return {
      status: response.status,
      replayed: response.headers.get('idempotent-replayed') === 'true',
      body: text === '' ? undefined : JSON.parse(text),
    };
  }

  /** Outcomes in the order of the decisions. */
  async decide(decisions: readonly object[]): Promise<readonly string[]> {
    return this.decisionDesk(decisions.map((decision) => JSON.stringify(decision)));
  }

  /** One after another, and again where too much waited for the operation: nothing was done then. */
  async #submit(texts: readonly string[]): Promise<readonly string[]> {
    const { administrator } = this.parts;
    const outcomes: string[] = [];
    for (const text of texts) {
      const [answer] = await retryUntilAvailable(() => administrator.submitAll([text]), setTimeout);
      outcomes.push(answer!.outcome);
    }
    return outcomes;
  }

  /** What becomes of a rule of a fund: its outcome, or that it is refused. All funds' rules stand in one stream, where lives at once overtake each other. */
  async setRule({ fund, covered, id, by }: AskedRule): Promise<string> {
    const decisions = [...covered].map(([decision, from]) => ({ decision, from: cents(from) }));
    const asked = { decisionId: id, actor: `administrator/${by}` };
    const rule = { fundId: fund, evidence: 'stated', decisions } as const;
    try {
      const set = () => this.parts.administrator.rules.set(rule, asked, { name: by });
      return (await retry(set, PATIENTLY, setTimeout)).outcome;
    } catch (error) {
      if (error instanceof DomainError) return 'refused';
      throw error;
    }
  }

  /** Those commands come one after another, as on a command line. */
  async forget(document: string, applicationId: string, includingOpen: boolean): Promise<void> {
    const forgetting = async (): Promise<void> => {
      const { privacy } = this.parts;
      await privacy.index();
      const { operations: found } = await privacy.forgetting.find(document, applicationId);
      for (const operation of found)
        if (includingOpen || !operation.open)
          await privacy.forgetting.forget(document, operation, { requestId: `forget-${randomUUID()}` });
    };
    const done = this.#privacy.then(forgetting);
    this.#privacy = done.catch(() => undefined);
    return done;
  }

  /** The public events as `receivables events` prints them. */
  async events(): Promise<readonly Json[]> {
    const bodies: Json[] = [];
    const { publication } = this.parts;
    for await (const { event } of publication.stream({ follow: false }, new AbortController().signal))
      bodies.push(JSON.parse(event.body));
    return bodies;
  }

  /** The same by the feed, with so many at least: what another process wrote follows within a moment. */
  async feed(application: TestApplication, count: number): Promise<readonly Json[]> {
    const bodies: Json[] = [];
    for (const deadline = Date.now() + PATIENCE_MS; ;) {
      const after = bodies.length === 0 ? '' : `&after=${bodies.at(-1).event_id}`;
      const { body } = await this.call(application, { method: 'GET', path: `/event?limit=7${after}` });
      bodies.push(...body.data);
      if (body.has_more) continue;
      if (bodies.length >= count || Date.now() > deadline) return bodies;
      await setTimeout(50);
    }
  }

  /** What `audit verify` finds, as a command beside the service; nothing when all is well. */
  async audit(): Promise<readonly string[]> {
    const { code, out, err } = await this.auditCommand('verify', '-o', 'json');
    return code === 0 ? [] : [...out.split('\n').slice(0, MOST_SHOWN), err];
  }

  async auditCommand(...args: readonly string[]): Promise<CommandResult> {
    const foundations = await openFoundations(readConfiguration(this.environment), this.logger);
    try {
      const { audit } = partsOf({ ...foundations, clock: this.clock });
      return await commandLine(() => ({ audit }))('audit', ...args);
    } finally {
      await foundations.close();
    }
  }
}
