// Connects the pages to the script, and shows in a footer what the script keeps. All of it works without the script
// too.
const svc = () => window.Svc

/** The script comes when it comes, but before the page counts as loaded: what is to be kept waits for it that long. */
function tell(say) {
  if (svc()) say(svc())
  else if (document.readyState !== 'complete') addEventListener('load', () => svc() && say(svc()))
}

document.getElementById('next-tide')?.addEventListener('click', () => {
  document.getElementById('tide').textContent = 'at 16:38, 4.9 m'
})

for (const button of document.querySelectorAll('[data-plan]')) {
  button.addEventListener('click', () => tell((it) => it.track('plan_chosen', { plan: button.dataset.plan })))
}

document.getElementById('sign-up')?.addEventListener('submit', (event) => {
  event.preventDefault()
  const email = document.getElementById('email').value
  const fullName = document.getElementById('full-name').value
  tell((it) => {
    it.identify(email, { full_name: fullName })
    it.conversion('signup', { plan: 'dinghy' })
  })
  document.getElementById('outcome').textContent = 'Thank you: you are signed up, as far as this is possible here.'
})

function line(name, value) {
  const term = document.createElement('dt')
  term.textContent = name
  const text = document.createElement('dd')
  text.textContent = value
  return [term, text]
}

function button(text, onClick) {
  const made = document.createElement('button')
  made.type = 'button'
  made.textContent = text
  made.setAttribute('data-svc-ignore', '')
  made.addEventListener('click', onClick)
  return made
}

function showJourney() {
  const footer = document.getElementById('journey')
  const heading = document.createElement('h2')
  heading.textContent = 'What this browser is known by'
  const list = document.createElement('dl')
  if (svc()?.anonymousId) {
    list.append(
      ...line('anonymous id', svc().anonymousId() ?? 'none'),
      ...line('session', svc().sessionId() ?? 'none'),
      ...line('journey', JSON.stringify(svc().journey())),
    )
  } else list.append(...line('script', 'not loaded'))
  const consent = (isGiven) => () => {
    svc()?.consent(isGiven)
    showJourney()
  }
  footer.replaceChildren(heading, list, button('Forget me', consent(false)), button('Agree', consent(true)))
}

if (document.readyState === 'complete') showJourney()
else addEventListener('load', showJourney)
