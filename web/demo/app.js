// A single-page app: it changes the address and draws the page by itself. The script sees the change and records a pageview.
const views = {
  '/demo/app/': { title: 'Today', text: 'High water at 04:12 and 16:38, low water at 10:21 and 22:50.' },
  '/demo/app/week': {
    title: 'Week',
    text: 'Springs on Thursday; the highest water of the week is on Friday at 06:47.',
  },
  '/demo/app/harbours': { title: 'Harbours', text: 'Yours: Whitby, Fécamp, Husum.' },
}

function show(path) {
  const view = views[path] ?? views['/demo/app/']
  document.title = `${view.title} · Slack Water`
  const heading = document.createElement('h1')
  heading.textContent = view.title
  const text = document.createElement('p')
  text.textContent = view.text
  document.getElementById('view').replaceChildren(heading, text)
  for (const link of document.querySelectorAll('#routes a')) {
    if (link.pathname === path) link.setAttribute('aria-current', 'page')
    else link.removeAttribute('aria-current')
  }
}

document.getElementById('routes').addEventListener('click', (event) => {
  const link = event.target.closest('a')
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return
  event.preventDefault()
  // The title first: the pageview has the one that is there a moment after the address has changed.
  show(link.pathname)
  history.pushState(null, '', link.href)
})
addEventListener('popstate', () => show(location.pathname))
show(location.pathname)
