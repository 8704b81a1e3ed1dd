import { testConformance } from './conformance.ts';
import { openPostgresStorage } from './postgres.ts';

testConformance('postgres', openPostgresStorage);
