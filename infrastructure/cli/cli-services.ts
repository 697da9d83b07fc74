import type { CreateClient } from '../../application/clients/create-client.ts';
import type { ListClients } from '../../application/clients/list-clients.ts';
import type { RevokeClient } from '../../application/clients/revoke-client.ts';
import type { WebhookRecovery } from '../../application/webhooks/webhook-recovery.ts';

/** What the commands need of the service, opened only once a command is known to be well written. */
export interface CliServices {
  readonly createClient: Pick<CreateClient, 'execute'>;
  readonly listClients: Pick<ListClients, 'execute'>;
  readonly revokeClient: Pick<RevokeClient, 'execute'>;
  readonly signingKeys: {
    /** `activeFrom` in UNIX milliseconds. */
    rotate(): Promise<{ readonly kid: string; readonly activeFrom: number }>;
  };
  readonly webhooks: Pick<WebhookRecovery, 'list' | 'deliveries' | 'plan' | 'repeat'>;
  close(): Promise<void>;
}

/** Shows how far a long command is. */
export interface Progress {
  advance(): void;
  /** Leaves the terminal as it was; called whatever happens. */
  end(): void;
}

export interface CliDependencies {
  open(): Promise<CliServices>;
  /** To standard output: one JSON object, or the help that was asked for. */
  write(text: string): void;
  /** To standard error. */
  writeError(text: string): void;
  /** For so many steps; shows nothing where nobody looks. */
  startProgress(total: number): Progress;
}

/** A command that was understood but could not be done. */
export class CommandFailedError extends Error {
  override readonly name = 'CommandFailedError';
}

/** Runs with opened services, closes them whatever happens, and prints each value as one line of JSON as soon as it is there. */
export const answerLines = async (
  dependencies: CliDependencies,
  work: (services: CliServices) => AsyncIterable<object>,
): Promise<void> => {
  const services = await dependencies.open();
  try {
    for await (const line of work(services)) dependencies.write(`${JSON.stringify(line)}\n`);
  } finally {
    await services.close();
  }
};

/** Runs with opened services, closes them whatever happens, and prints what came out as JSON. */
export const answer = async (
  dependencies: CliDependencies,
  work: (services: CliServices) => Promise<object>,
): Promise<void> => {
  const services = await dependencies.open();
  let result: object;
  try {
    result = await work(services);
  } finally {
    await services.close();
  }
  dependencies.write(`${JSON.stringify(result)}\n`);
};
