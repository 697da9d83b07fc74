import type { SandboxOutcome } from '../../../domain/loan/events.ts';
import type { ReadHeaders } from './headers.ts';

/** What the request asks the administrator of a sandbox to do. */
export const askedOutcome = (headers: ReadHeaders): { readonly sandboxOutcome?: SandboxOutcome } => {
  const asked = headers['X-Sandbox-Outcome'];
  return asked === undefined ? {} : { sandboxOutcome: asked as SandboxOutcome };
};
