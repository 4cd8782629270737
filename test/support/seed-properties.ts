/** Vitest's setup of each file: properties draw from the run's seed. */
import fc from 'fast-check'
import { seed } from './short-form.ts'

fc.configureGlobal({ seed })
