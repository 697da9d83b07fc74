import './compile-cache.ts';
import { newBackgroundWorker } from './background/background-worker.ts';

/** Threads, databases and their logs are about seventy before the first request; each connection in or out is one more. */
const NEEDED = 256;

/** Why this process may open too few files; undefined where it may open enough. Node.js has raised the soft limit to the hard one. */
const tooFewFiles = (): string | undefined => {
  const report = process.report as typeof process.report & { excludeNetwork: boolean };
  const { excludeNetwork } = report;
  // Else it looks up the name of every connection.
  report.excludeNetwork = true;
  const { userLimits } = report.getReport() as {
    readonly userLimits?: { readonly open_files?: { readonly soft: number | string } };
  };
  report.excludeNetwork = excludeNetwork;
  // `unlimited`, and systems without such a limit, are no number.
  const limit = Number(userLimits?.open_files?.soft);
  return limit < NEEDED
    ? `this process may open ${limit} files, and the service needs ${NEEDED} or more: raise the limit with ulimit -n, LimitNOFILE or --ulimit nofile`
    : undefined;
};

/*
 * Where the service begins. With an embedded engine it runs in two threads, which load the same modules: side by side, so the second
 * begins before the first has loaded anything.
 */
const tooFew = tooFewFiles();
if (tooFew !== undefined) {
  process.stderr.write(`${tooFew}\n`);
  process.exit(1);
}
const { EVENTSTORE_URL, DATABASE_URL } = process.env;
const embedded = !EVENTSTORE_URL || !DATABASE_URL;
const worker = embedded ? newBackgroundWorker() : undefined;
const { runService } = await import('./run-service.ts');
await runService(worker);
