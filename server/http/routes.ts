import { type Operation, type OperationName, operations } from '../../sdk/contract/operations.ts';

export type RouteName = OperationName | 'home' | 'live' | 'openapi';

export const routes: Record<RouteName, Operation> = {
  ...operations,
  home: { method: 'GET', path: '/', success: 200 },
  live: { method: 'GET', path: '/health/live', success: 200 },
  openapi: { method: 'GET', path: '/openapi.json', success: 200 },
};
