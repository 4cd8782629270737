/** SQL of a row's source and medium, and of the keys of the breakdowns, as texts. */
export const sourceKey = "if(source = '', 'direct', toString(source))"
export const mediumKey = "if(source = '', 'none', toString(medium))"
export const deviceKey = 'toString(device)'
export const browserKey = "if(browser = '', 'unknown', toString(browser))"
export const countryKey = "if(country = toFixedString('', 2), 'unknown', toString(country))"
