/** SQL about one property of an event, whose name is a parameter of the query (`propertyParams`). */

/** The name as it is, and as it stands in stored JSON, which `JSON.stringify` wrote. */
export function propertyParams(parameter: string, name: string): Record<string, string> {
  return { [parameter]: name, [`${parameter}_json`]: JSON.stringify(name) }
}

/** A text is found much sooner than JSON is read, so most events are left out by it. */
export function hasProperty(parameter: string): string {
  return `(position(events.properties,{${parameter}_json:String})>0 AND JSONHas(events.properties,{${parameter}:String}))`
}

/** A text as it is, anything else as JSON. */
export function propertyValue(parameter: string): string {
  const args = `(events.properties,{${parameter}:String})`
  return `if(JSONType${args}='String',JSONExtractString${args},JSONExtractRaw${args})`
}
