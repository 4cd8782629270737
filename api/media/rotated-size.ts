import type { Size } from './inspect.ts'

/** The size in which a picture or film is shown: a rotation by a quarter swaps width and height. */
export function rotatedSize({ width, height }: Size, isByQuarter: boolean): Size {
  return isByQuarter ? { width: height, height: width } : { width, height }
}
