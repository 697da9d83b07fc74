import type { App } from '../app.ts';
import type { Person } from '../desk/person.ts';
import { Rights } from '../desk/rights.ts';
import { administratorFor } from './decisions-view.ts';
import type { Desk } from './desk.ts';
import {
  clientsFor,
  deskLogFor,
  fundsFor,
  maintenanceFor,
  portfolioFor,
  reconciliationFor,
} from './funds-view.ts';
import { auditFor, loansFor } from './operations-view.ts';
import { webhooksFor } from './webhooks-view.ts';

/** The service as one person may use it, for one request. */
class DeskOfPerson implements Desk {
  readonly #app: App;
  readonly #rights: Rights;

  constructor(app: App, person: Person) {
    this.#app = app;
    this.#rights = new Rights(person);
  }

  get administrator(): Desk['administrator'] {
    return administratorFor(this.#app, this.#rights);
  }

  get audit(): Desk['audit'] {
    return auditFor(this.#app, this.#rights);
  }

  get clients(): Desk['clients'] {
    return clientsFor(this.#app, this.#rights);
  }

  get desk(): Desk['desk'] {
    return deskLogFor(this.#app, this.#rights);
  }

  get funds(): Desk['funds'] {
    return fundsFor(this.#app, this.#rights);
  }

  get loans(): Desk['loans'] {
    return loansFor(this.#app, this.#rights);
  }

  get maintenance(): Desk['maintenance'] {
    return maintenanceFor(this.#app, this.#rights);
  }

  get portfolio(): Desk['portfolio'] {
    return portfolioFor(this.#app, this.#rights);
  }

  get reconciliation(): Desk['reconciliation'] {
    return reconciliationFor(this.#app, this.#rights);
  }

  get webhooks(): Desk['webhooks'] {
    return webhooksFor(this.#app, this.#rights);
  }
}

/**
 * The service as this person may use it: a fund of no role of theirs does not exist, borrowers are masked for who may not know them, and
 * what no role allows throws RoleError. Without sign-in it is the service itself.
 */
export const deskOf = (app: App, person: Person | undefined): Desk =>
  person === undefined ? app : new DeskOfPerson(app, person);
