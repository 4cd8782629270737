/* With Preact, (c) Jason Miller, and uPlot, (c) Leon Sorokin: MIT. Map: Natural Earth */
function i(t){return t.split(`
`).map(n=>n.trim()).filter(n=>n!=="")}export{i as a};