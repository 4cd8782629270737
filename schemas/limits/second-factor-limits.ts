/** Bounds of accounts' second factors. */
import { hour, minute } from './units.ts'

/** From the secret to the first right code: time to install an app. */
export const factorSetUpMs = 15 * minute
/** From the right password to the code, and the codes that may be tried with it. */
export const signInStepMs = 5 * minute
export const codeTriesOfStepMax = 5
/** Wrong codes of an account in each window. Three codes are right at a time: guessing one takes four years as a rule. */
export const codeWindowMs = 1 * hour
export const codeTriesOfAccountMax = 10
/** Lost apps that one set of codes is enough for. */
export const recoveryCodesCount = 10
