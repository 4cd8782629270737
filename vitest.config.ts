import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/shared-stores.ts'],
    // Each file has a process of its own: services of several files would share state otherwise.
    pool: 'forks',
    // More than cores: most of the long ones wait for stores, kills and deadlines.
    maxWorkers: 3,
    testTimeout: 30_000,
    hookTimeout: 120_000,
    teardownTimeout: 60_000,
  },
})
