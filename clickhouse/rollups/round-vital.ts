/** Samples of web vitals as cells hold them: each value in millionths, rounded up by at most one per cent. */

/** Values of cells are in millionths. */
export const vitalUnit = 1e6

/**
 * SQL of a sample's rounded value. It has two or three significant digits and never passes a threshold of web vitals, all of
 * which it leaves as they are. Steps are 1/100, 1/50 or 1/20 of the leading digit's place. Each part has a name, because
 * ClickHouse computes again what is written twice.
 */
export const vitalValue = `toUInt64(intDiv(
  (toUInt64(ceil(greatest(metric_value, 0) * ${vitalUnit} - 1e-3)) AS millionths) + (greatest(intDiv(
    (toUInt64(exp10(length(toString(millionths)) - 1)) AS place),
    multiIf(millionths < 2 * place, 100, millionths < 5 * place, 50, 20)), 1) AS step) - 1, step) * step)`
