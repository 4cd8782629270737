/** The chart with the series of the compared period under it, which is asked for apart. */
import { comparedQuestionOf, type View } from './address.ts'
import { Chart, type ChartProps } from './chart.tsx'
import type { Overview } from './overview-data.ts'
import { useAnswer } from './query.ts'

interface ComparedChartProps extends ChartProps {
  readonly view: View
  readonly metrics: Overview['metrics']
}

/** It is of the past: only late events change it. */
const pastMs = 60_000

export function ComparedChart({ view, metrics, ...chart }: ComparedChartProps) {
  const { previous_range: before, range } = metrics
  if (before === null) return <Chart {...chart} />
  const local = new Intl.DateTimeFormat('sv-SE', { timeZone: range.timezone, dateStyle: 'short' })
  // The end is the first moment that isn't of the period any more.
  const [from, to] = [Date.parse(before.start), Date.parse(before.end) - 1].map((moment) => local.format(moment))
  return <Compared question={comparedQuestionOf(view, { from: from!, to: to! }, range.bucket)} {...chart} />
}

function Compared({ question, ...chart }: ChartProps & { question: string }) {
  const { answer, isStale } = useAnswer<Overview>(`/analytics/overview?${question}`, { againMs: pastMs })
  return <Chart {...chart} before={isStale ? undefined : answer?.traffic_series} />
}
