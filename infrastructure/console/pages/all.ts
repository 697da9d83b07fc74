import { keptPages } from '../kept.ts';
import type { Page } from '../page.ts';
import { auditPage } from './audit/page.ts';
import { awaitingPage } from './awaiting/page.ts';
import { decisionsPage } from './decisions/page.ts';
import { deskPage } from './desk/page.ts';
import { fundsPage } from './funds/page.ts';
import { operationsPage } from './operations/page.ts';
import { portfolioPage } from './portfolio/page.ts';
import { reconciliationPage } from './reconciliation/page.ts';
import { todayPage } from './today/page.ts';
import { webhooksPage } from './webhooks/page.ts';

export const PAGES: readonly Page[] = [
  todayPage,
  decisionsPage,
  operationsPage,
  portfolioPage,
  webhooksPage,
  reconciliationPage,
  auditPage,
  deskPage,
  awaitingPage,
  fundsPage,
  keptPages,
];
