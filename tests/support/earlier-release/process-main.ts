import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/* Runs in a process of its own, in the folder of an earlier release: its service, on a clock that its parent moves. */

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the types are those of another release
type Foreign = any;

const load = (path: string): Promise<Foreign> =>
  import(pathToFileURL(join(process.cwd(), 'infrastructure/composition', path)).href);

const logger = (level: string) => (fields: object, message: string) =>
  void process.stdout.write(`${JSON.stringify({ level, message, ...fields })}\n`);
const quiet = () => undefined;

let time = 0;
const clock = {
  now: () => new Date(time).toISOString(),
  today: () => new Date(time).toISOString().slice(0, 10),
};
let service: Foreign;

const calls: Readonly<Record<string, (argument: Foreign) => Promise<unknown>>> = {
  start: async ({ environment, now }: { environment: NodeJS.ProcessEnv; now: string }) => {
    time = Date.parse(now);
    const { readConfiguration } = await load('configuration.ts');
    const { openFoundations } = await load('foundations.ts');
    const { startService } = await load('service.ts');
    const log = { error: logger('error'), warn: quiet, info: quiet, debug: quiet };
    const foundations = await openFoundations(readConfiguration(environment), log);
    service = await startService({ ...foundations, clock });
  },
  setTime: async (now: string) => void (time = Date.parse(now)),
  decide: async (texts: readonly string[]) => {
    const { TOKENS } = await load('tokens.ts');
    const answers: readonly Foreign[] = await service.container.get(TOKENS.decisionDesk).submitAll(texts);
    return answers.map(({ outcome }) => outcome);
  },
  issue: async (client: object) => {
    const { TOKENS } = await load('tokens.ts');
    const { accessToken } = await service.container.get(TOKENS.tokens).issue(client);
    return accessToken;
  },
  stop: () => service.stop(),
};

process.on('message', ({ id, name, argument }: { id: number; name: string; argument: Foreign }) => {
  calls[name]!(argument).then(
    (result) => process.send!({ id, result }),
    (error: unknown) => process.send!({ id, error: error instanceof Error ? error.stack : String(error) }),
  );
});
