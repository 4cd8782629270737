/**
 * Measurements beside vitals and clicks that a snippet asks for. The address of the browser script's second file carries
 * the sum of their bits as a hexadecimal digit: `svc.js?late=VERSION.7`.
 */
export const downloadsBit = 1
export const notFoundBit = 2
export const searchBit = 4
/** Autocapture, which is off, would have told of the clicks. */
export const ownClicksBit = 8
