import type { CliServices } from '../../infrastructure/cli/cli-services.ts';
import type { CliDependencies } from '../../infrastructure/cli/command-line.ts';
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

/** The command line in this process, over the services that a test opens. */
export const commandLine =
  (services: () => Partial<CliServices>, more: Partial<CliDependencies> = {}) =>
  async (...args: readonly string[]): Promise<CommandResult> => {
    let [out, err] = ['', ''];
    const code = await runProgram(args, {
      open: async () => ({ ...({} as CliServices), ...services(), close: async () => undefined }),
      write: (text) => (out += text),
      writeError: (text) => (err += text),
      startProgress: () => ({ advance: () => undefined, end: () => undefined }),
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

/** Standard input or a file, in pieces as they come. */
export async function* pieces(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}
