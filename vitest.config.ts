import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { inOrder } from './test/file-order.ts'

class Sequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return inOrder(await super.sort(files), ({ moduleId }) => moduleId)
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
    sequence: { sequencer: Sequencer },
    runner: './test/support/timed-runner.ts',
    // Against hanging, also where others use the machine: the longest take a dozen seconds when it is quiet.
    testTimeout: 90_000,
    hookTimeout: 120_000,
    teardownTimeout: 60_000,
  },
})
