import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The short ones come last, so that no core is idle while the last of the long ones runs. */
class ShortOnesLast extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isShort = ({ moduleId }: TestSpecification) => /\/test\/(unit|tidy|oracle)\//.test(moduleId)
    const sorted = await super.sort(files)
    return [...sorted.filter((file) => !isShort(file)), ...sorted.filter(isShort)]
  }
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/shared-stores.ts'],
    // Processes, as services have one each. The next file goes on in one that is there, with what it has loaded: to load the
    // packages anew for each of them took a quarter of the processor's time. So no file may leave anything behind.
    pool: 'forks',
    isolate: false,
    // More than cores: most of the long ones wait for stores, kills and deadlines, half of their time and more.
    maxWorkers: 4,
    sequence: { sequencer: ShortOnesLast },
    // Against hanging, also where others use the machine: the longest take a dozen seconds when it is quiet.
    testTimeout: 90_000,
    hookTimeout: 120_000,
    teardownTimeout: 60_000,
  },
})
