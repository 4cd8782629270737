/** Prometheus metrics of one service: a registry of its own, so that tests can run several in one process. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

export interface Metrics {
  counter(name: string, help: string, labels?: string[]): Counter
  gauge(name: string, help: string, labels?: string[]): Gauge
  histogram(name: string, help: string, buckets: number[], labels?: string[]): Histogram
  /** The text exposition format. */
  text(): Promise<string>
  readonly contentType: string
}

/** `withProcess` adds the figures of the Node process itself. */
export function makeMetrics(service: string, withProcess = true): Metrics {
  const registry = new Registry()
  registry.setDefaultLabels({ service })
  if (withProcess) collectDefaultMetrics({ register: registry })
  return {
    counter: (name, help, labels = []) => new Counter({ name, help, labelNames: labels, registers: [registry] }),
    gauge: (name, help, labels = []) => new Gauge({ name, help, labelNames: labels, registers: [registry] }),
    histogram: (name, help, buckets, labels = []) =>
      new Histogram({ name, help, buckets, labelNames: labels, registers: [registry] }),
    text: () => registry.metrics(),
    contentType: registry.contentType,
  }
}
