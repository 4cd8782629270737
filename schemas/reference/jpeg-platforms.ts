/** Networks that take images in JPEG alone, as providers.ts has it. Small, as the dashboard has it too. */
import type { Platform } from './providers.ts'

export const jpegPlatforms: readonly string[] = ['instagram' satisfies Platform]
