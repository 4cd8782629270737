/** Networks under whose posts a first comment is published; their bounds are in providers.ts. Small, as the dashboard has it too. */
import type { Platform } from './providers.ts'

export const commentedPlatforms = ['instagram', 'facebook', 'linkedin'] as const satisfies Platform[]
export type CommentedPlatform = (typeof commentedPlatforms)[number]
