import { type Operation, type OperationName, operations } from '../../sdk/contract/operations.ts';

export type RouteName = OperationName | 'live' | 'openapi';

export const routes: Record<RouteName, Operation> = {
  ...operations,
  live: { method: 'GET', path: '/health/live', success: 200 },
  openapi: { method: 'GET', path: '/openapi.json', success: 200 },
};
