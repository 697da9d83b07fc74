import type { BodyContent, OperationSpec, PublicAddresses } from '../operation.ts';
import { javascriptPublic, javascriptSample, javascriptToken } from './javascript.ts';
import { planOf } from './plan.ts';
import { pythonPublic, pythonSample, pythonToken } from './python.ts';
import { shellPublic, shellSample, shellToken } from './shell.ts';

interface CodeSample {
  readonly lang: 'Shell' | 'JavaScript' | 'Python';
  readonly label: string;
  readonly source: string;
}

interface Sources {
  readonly shell: string;
  readonly javascript: string;
  readonly python: string;
}

const entries = (sources: Sources, suffix = ''): readonly CodeSample[] => [
  { lang: 'Shell', label: `Shell${suffix}`, source: sources.shell },
  { lang: 'JavaScript', label: `JavaScript${suffix}`, source: sources.javascript },
  { lang: 'Python', label: `Python${suffix}`, source: sources.python },
];

const ofContent = (
  spec: OperationSpec,
  content: BodyContent | undefined,
  base: string,
): readonly CodeSample[] => {
  const plan = planOf(spec, content);
  const sources = {
    shell: shellSample(plan, base),
    javascript: javascriptSample(plan, base),
    python: pythonSample(plan, base),
  };
  return entries(sources, content?.dataPart !== undefined && spec.body?.length !== 1 ? ' (form)' : '');
};

/**
 * Programs that make this request as they stand and can be run again: each makes what it acts on, under codes and keys of its own, and
 * leaves no subscription behind. They need TOKEN and FUND_ID (for a token CLIENT_ID and CLIENT_SECRET) and a file ccb.pdf.
 */
export const codeSamples = (spec: OperationSpec, addresses: PublicAddresses): readonly CodeSample[] => {
  const { publicUrl, authUrl } = addresses;
  if (spec.access === 'client_credentials') {
    return entries({
      shell: shellToken(authUrl),
      javascript: javascriptToken(authUrl),
      python: pythonToken(authUrl),
    });
  }
  // Files of the page have names that nobody calls.
  if (spec.path.includes('{asset}')) return [];
  if (spec.access === 'public') {
    const url = publicUrl + planOf(spec, undefined).path;
    return entries({
      shell: shellPublic(url),
      javascript: javascriptPublic(url),
      python: pythonPublic(url),
    });
  }
  return (spec.body ?? [undefined]).flatMap((content) => ofContent(spec, content, publicUrl));
};
