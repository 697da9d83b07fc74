import { writeFileSync } from 'node:fs';
import { recordAnswers } from './recorded-answers.ts';

/** Writes anew what the description shows as answers of the service; run it where a message or a quote has changed. */
const file = new URL('../../infrastructure/http/openapi/recorded-answers.json', import.meta.url);
writeFileSync(file, `${JSON.stringify(await recordAnswers(), null, 2)}\n`);
