/** SQL about one property of an event, whose name is a parameter of the query. */

export function hasProperty(parameter: string): string {
  return `JSONHas(events.properties,{${parameter}:String})`
}

/** A text as it is, anything else as JSON. */
export function propertyValue(parameter: string): string {
  const args = `(events.properties,{${parameter}:String})`
  return `if(JSONType${args}='String',JSONExtractString${args},JSONExtractRaw${args})`
}
