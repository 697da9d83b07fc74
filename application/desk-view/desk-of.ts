import type { App } from '../app.ts';
import { Rights } from '../desk/rights.ts';
import type { Person } from '../desk/rights.ts';
import { administratorFor } from './decisions-view.ts';
import type { Desk } from './desk.ts';
import { clientsFor, fundsFor, portfolioFor, reconciliationFor } from './funds-view.ts';
import { auditFor, loansFor } from './operations-view.ts';
import { webhooksFor } from './webhooks-view.ts';

/** Funds of no role of theirs do not exist, borrowers may be masked. Without sign-in: the service itself. */
export const deskOf = (app: App, person: Person | undefined): Desk => {
  if (person === undefined) return app;
  const rights = new Rights(person);
  return {
    get administrator() {
      return administratorFor(app, rights);
    },
    get audit() {
      return auditFor(app, rights);
    },
    get clients() {
      return clientsFor(app, rights);
    },
    get desk() {
      rights.within('desk_log');
      return app.desk;
    },
    get funds() {
      return fundsFor(app, rights);
    },
    get loans() {
      return loansFor(app, rights);
    },
    get maintenance() {
      rights.within('service');
      return app.maintenance;
    },
    get portfolio() {
      return portfolioFor(app, rights);
    },
    get reconciliation() {
      return reconciliationFor(app, rights);
    },
    get webhooks() {
      return webhooksFor(app, rights);
    },
  };
};
