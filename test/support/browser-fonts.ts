/** Fonts for a browser that was unpacked beside the system: those of its packages, and of the system where it has some. */
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** @returns the environment that leads the browser to them */
export function writeFontSettings(root: string): Record<string, string> {
  const file = join(root, 'fonts.conf')
  if (!existsSync(file)) {
    const folders = [join(root, 'usr/share/fonts'), '/usr/share/fonts'].map(
      (folder) => `<dir>${escapeXml(folder)}</dir>`,
    )
    const cached = join(root, 'fonts-cache')
    mkdirSync(cached, { recursive: true })
    const own = `${file}.${process.pid}`
    writeFileSync(
      own,
      `<?xml version="1.0"?>\n<fontconfig>${folders.join('')}<cachedir>${escapeXml(cached)}</cachedir></fontconfig>\n`,
    )
    renameSync(own, file)
  }
  return { FONTCONFIG_FILE: file }
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
