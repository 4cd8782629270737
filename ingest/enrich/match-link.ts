import type { Facts, Step, Verdict } from './facts.ts'

/** Workspaces of links and posts, from memory only: a link or post that isn't cached counts as unknown. */
export interface Ownership {
  linkOfId(id: number): { readonly workspaceId: number; readonly postId: number | null } | undefined
  workspaceOfPost(id: number): number | undefined
}

/**
 * Which of the workspace's links and posts the visitor followed, by the page's URL. Links and posts of another
 * workspace count as not named. A named post wins over the link's own.
 */
export function matchLink(ownership: Ownership): Step {
  return ({ page, workspace, row }: Facts): Verdict => {
    row.link_id = 0
    row.post_id = 0
    if (page.linkId !== 0) {
      const link = ownership.linkOfId(page.linkId)
      if (link !== undefined && link.workspaceId === workspace.id) {
        row.link_id = page.linkId
        row.post_id = link.postId ?? 0
      }
    }
    if (page.postId !== 0 && page.postId !== row.post_id && ownership.workspaceOfPost(page.postId) === workspace.id) {
      row.post_id = page.postId
    }
    return undefined
  }
}
