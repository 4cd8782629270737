/** Prometheus metrics of one service: a registry of its own, so that tests can run several in one process. */
import {
  AggregatorRegistry,
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  type MetricObject,
  Registry,
} from 'prom-client'

export interface Metrics {
  counter(name: string, help: string, labels?: string[]): Counter
  /** @param ofThreads how the gauges of several threads are joined */
  gauge(name: string, help: string, labels?: string[], ofThreads?: 'sum' | 'min'): Gauge
  histogram(name: string, help: string, buckets: number[], labels?: string[]): Histogram
  /** The text exposition format. */
  text(): Promise<string>
  /** Input for another thread's `textWith`. */
  figures(): Promise<Figures>
  /** The same with the figures of other threads. */
  textWith(others: readonly Figures[]): Promise<string>
  readonly contentType: string
}

export type Figures = readonly MetricObject[]

/** `withProcess` adds the figures of the Node process itself. */
export function makeMetrics(service: string, withProcess = true): Metrics {
  const registry = new Registry()
  registry.setDefaultLabels({ service })
  if (withProcess) collectDefaultMetrics({ register: registry })
  return {
    counter: (name, help, labels = []) => new Counter({ name, help, labelNames: labels, registers: [registry] }),
    gauge: (name, help, labels = [], aggregator = 'sum') =>
      new Gauge({ name, help, labelNames: labels, aggregator, registers: [registry] }),
    histogram: (name, help, buckets, labels = []) =>
      new Histogram({ name, help, buckets, labelNames: labels, registers: [registry] }),
    text: () => registry.metrics(),
    figures: async () => (await registry.getMetricsAsJSON()) as unknown as Figures,
    textWith: async (others) => {
      const own = (await registry.getMetricsAsJSON()) as unknown as Figures
      // prom-client leaves some figures of a process out, such as its start time: of several processes there is no sum.
      const kept = own.map((figure) => (figure.aggregator === 'omit' ? { ...figure, aggregator: 'first' } : figure))
      return AggregatorRegistry.aggregate([...others, kept] as unknown as MetricObject[]).metrics()
    },
    contentType: registry.contentType,
  }
}
