/** Bounds of series. The dashboard offers and draws what they allow. */

/** Buckets of a series whose interval was asked for. */
export const bucketsMax = 2_000
/** Rows that a series counts, the first ones: a chart can't tell more lines apart, and there may be 2,000 buckets. */
export const eventSeriesRowsMax = 10
