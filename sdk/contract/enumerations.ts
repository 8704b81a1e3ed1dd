export const memoryTypes = [
  'memory',
  'ticket',
  'document',
  'conversation',
  'event',
  'profile',
] as const;

export const memoryStatuses = ['processing', 'complete', 'failed'] as const;
