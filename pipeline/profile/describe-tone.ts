/** How pages speak, by counts alone: whom they address, how long their sentences are, and how loud they are. */
import type { Page } from './read-page.ts'

export interface Tone {
  /** Empty where there is too little text to say. */
  readonly label: string
  readonly traits: readonly string[]
  /** A sentence for each trait, and one for a label that stands on none; each once. */
  readonly evidence: readonly { readonly quote: string; readonly url: string }[]
}

/** Fewer say nothing. */
const sentencesMin = 4

interface Sentence {
  readonly text: string
  readonly url: string
}

/** Each trait holds where this share of the sentences fits. */
const traits: readonly (readonly [trait: string, share: number, fits: RegExp])[] = [
  ['addresses the reader', 0.25, /\b(you|your)\b|あなた|皆さま|皆様/i],
  ['speaks as we', 0.25, /\b(we|our|us)\b|私たち|わたしたち|弊社|当社/i],
  ['exclaims', 0.15, /[!！]$/],
  ['polite', 0.5, /(です|ます|ください|ました)[。！]?$/],
  ['short sentences', 0.7, /^.{1,70}$/],
]

export function describeTone(pages: readonly Page[]): Tone {
  const sentences = pages
    .flatMap(({ url, paragraphs }) =>
      paragraphs.flatMap((text) =>
        (text.match(/[^.!?。！？]+[.!?。！？]*/g) ?? []).map((one) => ({ text: one.trim(), url })),
      ),
    )
    .filter(({ text }) => text.length >= 8)
  if (sentences.length < sentencesMin) return { label: '', traits: [], evidence: [] }
  const held = traits.flatMap(([trait, share, fits]) => {
    const those = sentences.filter(({ text }) => fits.test(text))
    return those.length / sentences.length >= share ? [{ trait, example: those[0]! }] : []
  })
  const has = (trait: string) => held.some((one) => one.trait === trait)
  const label = has('exclaims')
    ? 'lively'
    : has('addresses the reader')
      ? 'direct'
      : has('speaks as we')
        ? 'personal'
        : has('polite')
          ? 'polite'
          : 'factual'
  const plain = label === 'factual' ? [sentences[0]!] : []
  return {
    label,
    traits: held.map(({ trait }) => trait),
    evidence: [...new Set([...plain, ...held.map(({ example }) => example)])].map(quoted),
  }
}

function quoted({ text, url }: Sentence) {
  return { quote: text, url }
}
