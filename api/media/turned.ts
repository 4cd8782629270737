import type { Size } from './inspect.ts'

/** The size in which a picture is shown whose file asks to turn it by a quarter, or doesn't. */
export function turned({ width, height }: Size, isByQuarter: boolean): Size {
  return isByQuarter ? { width: height, height: width } : { width, height }
}
