import { mock } from 'bun:test';

mock.module('ai', () => require('ai-6'));
mock.module('ai/test', () => require('ai-6/test'));
await import('./cases.ts');
