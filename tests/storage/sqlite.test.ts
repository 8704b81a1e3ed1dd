import { testConformance } from './conformance.ts';
import { openSqliteStorage } from './sqlite.ts';

testConformance('sqlite', openSqliteStorage);
