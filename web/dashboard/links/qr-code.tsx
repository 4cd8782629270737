/** The QR code of a short link, drawn here and saved as an image. */
import { renderSVG } from 'uqr'
import { qrUrlOf } from '../../../schemas/link-ways.ts'

/** The empty margin that ISO/IEC 18004 asks for, so that cameras find the code on any ground. */
const quietModules = 4

/** Pixels of each side: enough for a poster's corner. */
const pngPixels = 1024

/** @param source an image that may be drawn at any size */
async function savePng(source: string, name: string): Promise<void> {
  const image = new Image(pngPixels, pngPixels)
  image.src = source
  await image.decode()
  const canvas = document.createElement('canvas')
  canvas.width = canvas.height = pngPixels
  canvas.getContext('2d')!.drawImage(image, 0, 0, pngPixels, pngPixels)
  const link = document.createElement('a')
  link.href = canvas.toDataURL('image/png')
  link.download = name
  link.click()
}

/** For print: it leads where the short link does, and its clicks are told apart. */
export function QrCode({ url, label }: { url: string; label: string }) {
  // Firefox doesn't draw an SVG without a width and height on a canvas.
  const size = `width="${pngPixels}" height="${pngPixels}"`
  const drawing = renderSVG(qrUrlOf(url), { border: quietModules }).replace('<svg ', `<svg ${size} `)
  const source = `data:image/svg+xml,${encodeURIComponent(drawing)}`
  const name = url.slice(url.lastIndexOf('/') + 1)
  const of = (
    <span class="unseen">
      {' of '}
      <bdi>{label}</bdi>
    </span>
  )
  return (
    <section>
      <h3>QR code</h3>
      <img class="qr" src={source} alt={`QR code of ${url}`} width={160} height={160} />
      <a class="link" href={source} download={`${name}.svg`}>
        Download SVG
        {of}
      </a>{' '}
      <button type="button" class="link" onClick={() => savePng(source, `${name}.png`)}>
        Download PNG
        {of}
      </button>
    </section>
  )
}
