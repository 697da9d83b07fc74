import type { App } from '../app.ts';
import type { Rights } from '../desk/rights.ts';
import { masked, requireSeen } from './desk.ts';
import type { Desk } from './desk.ts';

export const fundsFor = ({ funds }: Pick<App, 'funds'>, rights: Rights): Desk['funds'] => ({
  names: async () => new Map([...(await funds.names())].filter(([fundId]) => rights.has('see', fundId))),
  async find(idOrName) {
    const found = await funds.find(idOrName);
    return found !== undefined && rights.has('see', found) ? found : undefined;
  },
  list: async () => (await funds.list()).filter(({ fundId }) => rights.has('see', fundId)),
  async name(request) {
    requireSeen(rights, request.fundId);
    rights.require('configure', request.fundId);
    return funds.name(request);
  },
});

export const clientsFor = ({ clients }: Pick<App, 'clients'>, rights: Rights): Desk['clients'] => ({
  funds: async () => (await clients.funds()).filter((fundId) => rights.has('see', fundId)),
  async applicationNames() {
    const names = await clients.applicationNames();
    if (rights.within('see') === undefined) return names;
    const linked = (await clients.list()).filter(({ fundIds }) =>
      fundIds.some((id) => rights.has('see', id)),
    );
    const ids = new Set(linked.map(({ applicationId }) => applicationId));
    return new Map([...names].filter(([id]) => ids.has(id)));
  },
  namesOf: (actors) => clients.namesOf(actors),
});

export const portfolioFor = ({ portfolio }: Pick<App, 'portfolio'>, rights: Rights): Desk['portfolio'] => ({
  async analyse(fundId, date) {
    requireSeen(rights, fundId);
    return portfolio.analyse(fundId, date);
  },
  async held(fundId, ...more) {
    requireSeen(rights, fundId);
    return portfolio.held(fundId, ...more);
  },
  async documentsOf(analysed) {
    const { fundId } = analysed.position;
    requireSeen(rights, fundId);
    const documents = await portfolio.documentsOf(analysed);
    if (rights.has('borrowers', fundId)) return documents;
    return new Map([...documents].map(([stream, document]) => [stream, masked(document)]));
  },
});

export const reconciliationFor = (
  { reconciliation }: Pick<App, 'reconciliation'>,
  rights: Rights,
): Desk['reconciliation'] => {
  rights.within('reconcile');
  return {
    preview: (bytes, layout) => reconciliation.preview(bytes, layout),
    daysOf: (statement, format) => reconciliation.daysOf(statement, format),
    async applicationsOf(fundId, codes) {
      requireSeen(rights, fundId);
      return reconciliation.applicationsOf(fundId, codes);
    },
    async compare(request) {
      requireSeen(rights, request.fundId);
      rights.require('reconcile', request.fundId);
      return reconciliation.compare(request);
    },
  };
};
