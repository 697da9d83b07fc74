import { randomUUID } from 'node:crypto';
import { readConfiguration } from '../../infrastructure/composition/configuration.ts';
import { openFoundations } from '../../infrastructure/composition/foundations.ts';
import { startService } from '../../infrastructure/composition/service.ts';
import { ApiClient } from './api-client.ts';
import type { ClientCredentials } from './api-client.ts';
import { ServedDescription } from './http-description.ts';
import { RecordingLogger } from './recording-logger.ts';
import { freePort } from './service-process.ts';
import { temporaryDirectory } from './temporary-directory.ts';

/** Where the service's threads run. */
type Threads = { readonly background?: 'thread' | 'here' };
type Service = Awaited<ReturnType<typeof startService>>;

/** The whole service in this process: embedded engines in a directory of its own, on a loopback port. */
export class RunningService {
  readonly baseUrl: string;
  readonly service: Service;
  readonly logger: RecordingLogger;

  private constructor(baseUrl: string, service: Service, logger: RecordingLogger) {
    this.baseUrl = baseUrl;
    this.service = service;
    this.logger = logger;
  }

  static async start(
    variables: Readonly<Record<string, string>> = {},
    threads: Threads = {},
  ): Promise<RunningService> {
    const port = await freePort();
    const baseUrl = `http://127.0.0.1:${port}`;
    const configuration = readConfiguration({
      HOST: '127.0.0.1',
      PORT: String(port),
      PUBLIC_URL: baseUrl,
      AUTH_URL: baseUrl,
      DATA_DIR: temporaryDirectory(),
      SANDBOX_STEP: '0ms',
      METRICS_PORT: 'off',
      ...variables,
    });
    const logger = new RecordingLogger();
    const foundations = await openFoundations(configuration, logger, { part: 'service' });
    const service = await startService(foundations, threads);
    return new RunningService(baseUrl, service, logger);
  }

  /** Fetched where it is asked for: few tests need it, and it takes as long as the start. */
  async description(): Promise<ServedDescription> {
    return ServedDescription.of(await (await fetch(`${this.baseUrl}/openapi.json`)).text());
  }

  /** A client of a new application, or of this one, that is linked to this fund. */
  async createClient(
    fund: string,
    rateLimitMultiplier = 1_000,
    applicationId?: string,
  ): Promise<ClientCredentials> {
    const created = await this.service.parts.clients.create({
      name: 'test',
      fundIds: [fund],
      rateLimitMultiplier,
      ...(applicationId !== undefined && { applicationId }),
    });
    return {
      client_id: created.clientId,
      client_secret: created.clientSecret,
      application_id: created.applicationId,
      fund_ids: created.fundIds,
    };
  }

  async client(fund: string = randomUUID()): Promise<ApiClient> {
    return new ApiClient(this.baseUrl, await this.createClient(fund));
  }

  stop(): Promise<void> {
    return this.service.stop();
  }
}
