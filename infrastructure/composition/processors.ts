import type { Parts } from './parts.ts';
import type { Status } from '../../application/processors/status.ts';
import { PUBLISHING } from '../../application/maintenance/quarantine/quarantined-operations.ts';
import type { Role } from './configuration.ts';

/** A processor under the names by which readiness and metrics tell of it. */
export interface Standing extends Status {
  readonly role: Role;
  readonly work: string;
  /** What its quarantined operations wait for. */
  readonly waitsFor: string;
}

/** How those stand that this thread's roles have follow the log for others to see. */
export const standingsOf = (parts: Parts): readonly Standing[] => {
  const { roles } = parts.foundations.configuration;
  const standings: Standing[] = [];
  const { projectors } = parts.readModels;
  for (const one of roles.includes('projector') ? projectors : [])
    standings.push({ ...one.status(), role: 'projector', work: `${one.name}-projector`, waitsFor: one.name });
  if (roles.includes('relay')) {
    const status = parts.relay.status();
    standings.push({ ...status, role: 'relay', work: 'relay', waitsFor: PUBLISHING });
  }
  return standings;
};
