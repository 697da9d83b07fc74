import type { OperationSpec, PublicAddresses } from '../operation.ts';
import { javascriptPublic, javascriptSample, javascriptToken } from './javascript.ts';
import { planOf } from './plan.ts';
import { pythonPublic, pythonSample, pythonToken } from './python.ts';
import { shellPublic, shellSample, shellToken } from './shell.ts';

const LANGUAGES = [
  { lang: 'Shell', sample: shellSample, ofToken: shellToken, ofPublic: shellPublic },
  { lang: 'JavaScript', sample: javascriptSample, ofToken: javascriptToken, ofPublic: javascriptPublic },
  { lang: 'Python', sample: pythonSample, ofToken: pythonToken, ofPublic: pythonPublic },
] as const;

/** Entries of `x-codeSamples`. */
const inEach = (sourceIn: (language: (typeof LANGUAGES)[number]) => string, suffix = '') =>
  LANGUAGES.map((one) => ({ lang: one.lang, label: `${one.lang}${suffix}`, source: sourceIn(one) }));

/**
 * Programs that make this request as they stand and can be run again: each makes what it acts on, under codes and keys of its own, and
 * leaves no subscription behind. They need TOKEN and FUND_ID (for a token CLIENT_ID and CLIENT_SECRET) and a file ccb.pdf.
 */
export const codeSamples = (spec: OperationSpec, { publicUrl, authUrl }: PublicAddresses) => {
  if (spec.access === 'client_credentials') return inEach(({ ofToken }) => ofToken(authUrl));
  // Files of the page have names that nobody calls.
  if (spec.path.includes('{asset}')) return [];
  if (spec.access === 'public') {
    const url = publicUrl + planOf(spec, undefined).path;
    return inEach(({ ofPublic }) => ofPublic(url));
  }
  const { body = [undefined] } = spec;
  return body.flatMap((content) => {
    const plan = planOf(spec, content);
    const isOneOfSeveral = content?.dataPart !== undefined && body.length > 1;
    return inEach(({ sample }) => sample(plan, publicUrl), isOneOfSeveral ? ' (form)' : '');
  });
};
