import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

/*
 * Preloaded with --import: what Node.js made of each module stays for the next start, which then takes less than half the processor
 * time. Beside the code, because a user who can write there can change the code anyway; where that is not allowed, nothing is kept.
 */
const directory = fileURLToPath(new URL('../../node_modules/.cache/compiled', import.meta.url));
enableCompileCache(directory);
// Threads read it from the environment: those that own a file would otherwise compile their few modules at each start.
process.env['NODE_COMPILE_CACHE'] ??= directory;
