import { parentPort, workerData } from 'node:worker_threads';
import { yamlText } from './yaml-text.ts';

parentPort!.postMessage(yamlText(workerData));
