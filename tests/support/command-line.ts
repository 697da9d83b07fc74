import type { Maintenance } from '../../application/maintenance/maintenance.ts';
import type { App } from '../../application/app.ts';
import type { CliDependencies, CommandDependencies } from '../../infrastructure/cli/command-line.ts';
import { UNHEEDING } from './desk-over.ts';
import { fundsOver } from './funds-over.ts';
import { runProgram } from '../../infrastructure/cli/program.ts';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- answers are checked field by field where they are used
type Json = any;

export interface CommandResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** Standard output, one JSON value a line. */
  readonly lines: readonly Json[];
}

/** Of the services, what a test has to hand. */
type SomeServices = {
  readonly [Name in keyof App]?: App[Name] | Partial<Pick<App[Name], keyof App[Name]>>;
};

const nowhere = async (): Promise<never> => {
  throw new Error('there is nothing like this in the test');
};

/** A command line that reaches nothing and of which nobody reads anything. */
export const NOTHING: CommandDependencies = {
  ...{ open: nowhere, openMove: nowhere, openConsole: nowhere, examine: nowhere },
  backups: { write: nowhere, restore: nowhere },
  ...{ version: '0', terminal: false, colour: false },
  ...{ write: () => undefined, show: () => undefined, writeError: () => undefined },
  startProgress: () => ({ advance: () => undefined, [Symbol.dispose]: () => undefined }),
  ...{ openBrowser: async () => undefined, ask: async () => undefined, onKey: () => undefined },
  untilInterrupted: () => new AbortController().signal,
};

/** The command line in this process, over the services that a test opens. */
export const commandLine =
  (services: () => SomeServices, more: Partial<CliDependencies> = {}) =>
  async (...args: readonly string[]): Promise<CommandResult> => {
    let [out, err] = ['', ''];
    const code = await runProgram(args, {
      ...NOTHING,
      open: async () => ({
        app: { ...maintaining({}), ...withFunds(services()) } as App,
        close: async () => undefined,
      }),
      write: (text) => (out += text),
      writeError: (text) => (err += text),
      ...more,
    });
    const lines = out.startsWith('{')
      ? out
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line))
      : [];
    return { code, out, err, lines };
  };

/** Funds as the other services know them, without names, where the test has none of its own. */
const withFunds = (services: SomeServices): SomeServices => {
  // A spread would make every part of a service.
  if (services.desk && services.funds) return services;
  const { clients, loans } = services as App;
  return {
    desk: UNHEEDING,
    funds: fundsOver({ clients: () => clients, ...(loans && { loans: () => loans }) }),
    ...services,
  };
};

/** Standard input or a file, in pieces as they come. */
export async function* pieces(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

/** The part of the maintenance that a command calls. */
export const maintaining = (parts: {
  readonly [Part in keyof Maintenance]?: Maintenance[Part] extends (...given: never) => unknown
    ? Maintenance[Part]
    : Partial<Maintenance[Part]>;
}): Pick<App, 'maintenance'> => ({ maintenance: parts as Maintenance });
