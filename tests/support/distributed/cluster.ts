import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { ApiClient } from '../api-client.ts';
import type { ClientCredentials } from '../api-client.ts';
import { authority } from '../certificates.ts';
import type { Authority } from '../certificates.ts';
import { ServiceProcess } from '../service-process.ts';
import { temporaryDirectory } from '../temporary-directory.ts';
import { WebhookReceiver } from '../webhook-receiver.ts';
import type { Engines } from './engines.ts';
import { trusting } from '../trusted-receiver.ts';

/** Quick enough for a test; the retry schedule outlasts a fail-over. */
const SETTINGS = {
  SANDBOX_STEP: '10ms',
  WEBHOOK_RETRY_SCHEDULE: '100ms,200ms,500ms,1s,2s,5s,10s,10s',
  METRICS_PORT: 'off',
  LOG_LEVEL: 'info',
};
/** As clients see the service, whichever process they reach. */
const PUBLIC_ADDRESS = 'http://receivables.test';

/** Several processes of the service on the same engines, with one receiver of webhooks. */
export class Cluster {
  readonly receiver: WebhookReceiver;
  readonly nodes: ServiceProcess[] = [];
  /** The service trusts the receivers that it vouches for. */
  readonly ca: Authority;
  readonly #directory: string;
  readonly #environment: Readonly<Record<string, string>>;

  private constructor(parts: {
    receiver: WebhookReceiver;
    ca: Authority;
    directory: string;
    environment: Readonly<Record<string, string>>;
  }) {
    this.receiver = parts.receiver;
    this.ca = parts.ca;
    this.#directory = parts.directory;
    this.#environment = parts.environment;
  }

  static async prepare(
    engines: Pick<Engines, 'environment'>,
    extra: Readonly<Record<string, string>> = {},
  ): Promise<Cluster> {
    const directory = temporaryDirectory();
    const ca = await authority();
    const environment = {
      ...SETTINGS,
      ...trusting(ca),
      PUBLIC_URL: PUBLIC_ADDRESS,
      AUTH_URL: PUBLIC_ADDRESS,
      ...engines.environment,
      ...extra,
    };
    return new Cluster({ receiver: await WebhookReceiver.start(ca), ca, directory, environment });
  }

  /** Starts a process with these roles (default: all); resolves when it is ready. */
  async add(roles = 'all', extra: Readonly<Record<string, string>> = {}): Promise<ServiceProcess> {
    // Documents are files, so all processes have one directory, as over a network file system.
    const data = join(this.#directory, 'data');
    const node = await ServiceProcess.start(data, { ...this.#environment, ROLES: roles, ...extra });
    this.nodes.push(node);
    return node;
  }

  async createClient(fund: string = randomUUID()): Promise<ClientCredentials> {
    return this.nodes[0]!.createClient(fund);
  }

  /** The same client at each of these processes. */
  clientAt(credentials: ClientCredentials, node: ServiceProcess): ApiClient {
    return new ApiClient(node.baseUrl, credentials);
  }

  /** In order, so that no lease is left for whoever comes next to wait for. */
  async close(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.end('SIGTERM')));
    await this.receiver.close();
  }
}
