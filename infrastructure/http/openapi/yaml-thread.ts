import { parentPort, workerData } from 'node:worker_threads';
import { stringify } from 'yaml';

parentPort!.postMessage(stringify(workerData, { aliasDuplicateObjects: false }));
