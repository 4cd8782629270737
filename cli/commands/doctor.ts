import { defineCommand } from '../command.ts'
import { examineAll } from '../doctor/examine.ts'
import type { Finding, Outcome } from '../doctor/finding.ts'

export const doctor = defineCommand({
  name: 'doctor',
  summary: 'Look at the stores, disks, clocks, settings and ingest, and say what is wrong and what to do.',
  options: {
    'ingest-url': { value: 'URL', meaning: "An ingest node's own root, http://HOST:PORT, in place of the found one." },
  },
  takesWrongSettings: true,
  async run({ options, installation, environment }) {
    const ingestUrl = options.httpUrl('ingest-url')?.href.replace(/\/+$/, '')
    const findings = await examineAll({ installation, environment, ingestUrl })
    return { outcome: worstOf(findings), findings }
  },
  show: ({ findings }) => {
    const width = Math.max(...findings.map(({ check }) => check.length))
    const lines = findings.map(({ check, outcome, text }) => `${outcome.padEnd(7)}  ${check.padEnd(width)}  ${text}`)
    const count = (outcome: Outcome) => findings.filter((finding) => finding.outcome === outcome).length
    return [...lines, '', `${count('ok')} ok, ${count('warning')} warnings, ${count('failed')} failed`].join('\n')
  },
  exitCode: ({ outcome }) => (outcome === 'failed' ? 1 : 0),
})

function worstOf(findings: readonly Finding[]): Outcome {
  const found = new Set(findings.map(({ outcome }) => outcome))
  return found.has('failed') ? 'failed' : found.has('warning') ? 'warning' : 'ok'
}
