import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The files that take longest in a whole run on two cores. */
const longest =
  /\/test\/(crash\/|contract\/docs-examples|property\/(overview|people)|integration\/(retention|start|doctor|pipeline|no-addresses|marks|ingest-|one-moment|figures-commands|http-streams|link-redirect|shipping|api-stores|people-erase)|browser\/(dashboard|delivery|careful|autocapture|consent|pageviews))/
const short = /\/test\/(unit|tidy|oracle)\//

const durationsFile = new URL('.cache/test-durations.json', import.meta.url)

/**
 * The longest files come first, so that no core is idle at the end. They are ordered by how long they took the last
 * time (start/test-run.mjs keeps it), and by name where they weren't run here before.
 */
class Sequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const took = readDurations()
    const msOf = ({ moduleId }: TestSpecification) =>
      took.get(moduleId) ?? (longest.test(moduleId) ? 60_000 : short.test(moduleId) ? 0 : 5_000)
    return (await super.sort(files)).sort((one, other) => msOf(other) - msOf(one))
  }
}

/** Milliseconds of each file's last run. */
function readDurations(): Map<string, number> {
  try {
    const kept = Object.entries(JSON.parse(readFileSync(durationsFile, 'utf8')) as Record<string, number>)
    return new Map(kept.map(([file, ms]) => [fileURLToPath(new URL(file, import.meta.url)), ms]))
  } catch {
    return new Map()
  }
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/shared-stores.ts'],
    setupFiles: ['test/support/seed-properties.ts', 'test/support/left-dispatcher.ts'],
    // Processes, as services have one each. The next file goes on in one that is there, with the packages that it has loaded:
    // loading them anew took a quarter of the processor's time. So no file may leave anything behind.
    pool: 'forks',
    isolate: false,
    // More than two cores: most of the long ones wait for stores, kills and deadlines, half of their time and more.
    // Six were tried: the processors are full then, and single tests run into deadlines.
    maxWorkers: 4,
    sequence: { sequencer: Sequencer },
    // Against hanging. The longest take a dozen seconds on a quiet machine, and machines have been twenty times as slow for
    // minutes.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    teardownTimeout: 60_000,
    expect: {
      // The same of what is waited for, where the wait itself is not what the test is about.
      poll: { timeout: 60_000 },
      // A test that asserts nothing can't fail.
      requireAssertions: true,
    },
  },
})
