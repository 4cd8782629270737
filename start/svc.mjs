#!/usr/bin/env node
/** package.json's bin: `npx svc …` is `node start/bootstrap.mjs svc …`. */
process.argv.splice(2, 0, 'svc')
await import('./bootstrap.mjs')
