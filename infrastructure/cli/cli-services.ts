import type { CreateClient } from '../../application/clients/create-client.ts';
import type { ListClients } from '../../application/clients/list-clients.ts';
import type { RevokeClient } from '../../application/clients/revoke-client.ts';

/** What the commands need of the service, opened only once a command is known to be well written. */
export interface CliServices {
  readonly createClient: Pick<CreateClient, 'execute'>;
  readonly listClients: Pick<ListClients, 'execute'>;
  readonly revokeClient: Pick<RevokeClient, 'execute'>;
  readonly signingKeys: {
    /** `activeFrom` in UNIX milliseconds. */
    rotate(): Promise<{ readonly kid: string; readonly activeFrom: number }>;
  };
  close(): Promise<void>;
}

export interface CliDependencies {
  open(): Promise<CliServices>;
  /** To standard output: one JSON object, or the help that was asked for. */
  write(text: string): void;
  /** To standard error. */
  writeError(text: string): void;
}

/** A command that was understood but could not be done. */
export class CommandFailedError extends Error {
  override readonly name = 'CommandFailedError';
}

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
