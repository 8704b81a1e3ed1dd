import './cases.ts';
