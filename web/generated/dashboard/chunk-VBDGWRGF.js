/* With Preact, (c) Jason Miller, and uPlot, (c) Leon Sorokin: MIT. Map: Natural Earth */
function n(r){let t=r.toString();return t===""?"":`?${t}`}export{n as a};