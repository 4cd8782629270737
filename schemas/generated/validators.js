// Made by schemas/generate.ts from schemas/event/event-schemas.ts: change those and run `npm run generate`.

var __defProp = Object.defineProperty;
var __getOwnPropNames = Object.getOwnPropertyNames;
var __commonJS = (cb, mod) => function __require() {
  try {
    return mod || (0, cb[__getOwnPropNames(cb)[0]])((mod = { exports: {} }).exports, mod), mod.exports;
  } catch (e) {
    throw mod = 0, e;
  }
};
var __export = (target, all) => {
  for (var name in all)
    __defProp(target, name, { get: all[name], enumerable: true });
};

// node_modules/ajv/dist/runtime/ucs2length.js
var require_ucs2length = __commonJS({
  "node_modules/ajv/dist/runtime/ucs2length.js"(exports) {
    "use strict";
    Object.defineProperty(exports, "__esModule", { value: true });
    function ucs2length(str) {
      const len = str.length;
      let length = 0;
      let pos = 0;
      let value;
      while (pos < len) {
        length++;
        value = str.charCodeAt(pos++);
        if (value >= 55296 && value <= 56319 && pos < len) {
          value = str.charCodeAt(pos);
          if ((value & 64512) === 56320)
            pos++;
        }
      }
      return length;
    }
    exports.default = ucs2length;
    ucs2length.code = 'require("ajv/dist/runtime/ucs2length").default';
  }
});

// schemas:fast
var fast_exports = {};
__export(fast_exports, {
  batch: () => batch,
  event: () => event,
  replay: () => replay,
  sender: () => sender,
  visit: () => visit,
  visits: () => visits
});
var sender = validate10;
function validate10(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null;
  let errors = 0;
  if (errors === 0) {
    if (data && typeof data == "object" && !Array.isArray(data)) {
      let missing0;
      if (data.tracking_key === void 0 && (missing0 = "tracking_key")) {
        validate10.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
        return false;
      } else {
        if (data.tracking_key !== void 0) {
          if (typeof data.tracking_key !== "string") {
            validate10.errors = [{ instancePath: instancePath + "/tracking_key", schemaPath: "#/properties/tracking_key/type", keyword: "type", params: { type: "string" } }];
            return false;
          }
        }
      }
    } else {
      validate10.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
      return false;
    }
  }
  validate10.errors = vErrors;
  return errors === 0;
}
var event = validate11;
var schema12 = { "type": "object", "properties": { "event_type": { "enum": ["track", "identify", "conversion", "", null] }, "event_name": { "type": "string", "minLength": 1, "maxLength": 120 }, "client_event_id": { "type": ["string", "null"], "maxLength": 254 }, "email": { "type": ["string", "null"], "maxLength": 254 }, "full_name": { "type": ["string", "null"], "maxLength": 200 }, "path": { "type": ["string", "null"], "maxLength": 2048 }, "url": { "type": ["string", "null"], "maxLength": 2048 }, "referrer": { "type": ["string", "null"], "maxLength": 2048 }, "source": { "type": ["string", "null"], "maxLength": 254 }, "medium": { "type": ["string", "null"], "maxLength": 254 }, "campaign": { "type": ["string", "null"], "maxLength": 254 }, "content": { "type": ["string", "null"], "maxLength": 254 }, "properties": { "type": ["object", "null"] }, "anonymous_id": { "type": ["string", "null"], "maxLength": 254 }, "session_id": { "type": ["string", "null"], "maxLength": 254 }, "title": { "type": ["string", "null"], "maxLength": 500 }, "occurred_at": { "type": ["string", "null"] }, "sent_at": { "type": ["string", "null"] }, "screen_width": { "type": ["integer", "null"], "minimum": 0, "maximum": 65535 }, "language": { "type": ["string", "null"], "maxLength": 64 }, "timezone": { "type": ["string", "null"], "maxLength": 64 }, "user_agent": { "type": ["string", "null"], "maxLength": 1024 }, "ip": { "type": ["string", "null"], "maxLength": 64 }, "value_cents": { "not": {} } }, "required": ["event_name"] };
function validate11(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null;
  let errors = 0;
  if (errors === 0) {
    if (data && typeof data == "object" && !Array.isArray(data)) {
      let missing0;
      if (data.event_name === void 0 && (missing0 = "event_name")) {
        validate11.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
        return false;
      } else {
        if (data.event_type !== void 0) {
          let data0 = data.event_type;
          const _errs1 = errors;
          if (!(data0 === "track" || data0 === "identify" || data0 === "conversion" || data0 === "" || data0 === null)) {
            validate11.errors = [{ instancePath: instancePath + "/event_type", schemaPath: "#/properties/event_type/enum", keyword: "enum", params: { allowedValues: schema12.properties.event_type.enum } }];
            return false;
          }
          var valid0 = _errs1 === errors;
        } else {
          var valid0 = true;
        }
        if (valid0) {
          if (data.event_name !== void 0) {
            let data1 = data.event_name;
            const _errs2 = errors;
            if (errors === _errs2) {
              if (typeof data1 === "string") {
                if (data1.length > 120) {
                  validate11.errors = [{ instancePath: instancePath + "/event_name", schemaPath: "#/properties/event_name/maxLength", keyword: "maxLength", params: { limit: 120 } }];
                  return false;
                } else {
                  if (data1.length < 1) {
                    validate11.errors = [{ instancePath: instancePath + "/event_name", schemaPath: "#/properties/event_name/minLength", keyword: "minLength", params: { limit: 1 } }];
                    return false;
                  }
                }
              } else {
                validate11.errors = [{ instancePath: instancePath + "/event_name", schemaPath: "#/properties/event_name/type", keyword: "type", params: { type: "string" } }];
                return false;
              }
            }
            var valid0 = _errs2 === errors;
          } else {
            var valid0 = true;
          }
          if (valid0) {
            if (data.client_event_id !== void 0) {
              let data2 = data.client_event_id;
              const _errs4 = errors;
              if (typeof data2 !== "string" && data2 !== null) {
                validate11.errors = [{ instancePath: instancePath + "/client_event_id", schemaPath: "#/properties/client_event_id/type", keyword: "type", params: { type: schema12.properties.client_event_id.type } }];
                return false;
              }
              if (errors === _errs4) {
                if (typeof data2 === "string") {
                  if (data2.length > 254) {
                    validate11.errors = [{ instancePath: instancePath + "/client_event_id", schemaPath: "#/properties/client_event_id/maxLength", keyword: "maxLength", params: { limit: 254 } }];
                    return false;
                  }
                }
              }
              var valid0 = _errs4 === errors;
            } else {
              var valid0 = true;
            }
            if (valid0) {
              if (data.email !== void 0) {
                let data3 = data.email;
                const _errs6 = errors;
                if (typeof data3 !== "string" && data3 !== null) {
                  validate11.errors = [{ instancePath: instancePath + "/email", schemaPath: "#/properties/email/type", keyword: "type", params: { type: schema12.properties.email.type } }];
                  return false;
                }
                if (errors === _errs6) {
                  if (typeof data3 === "string") {
                    if (data3.length > 254) {
                      validate11.errors = [{ instancePath: instancePath + "/email", schemaPath: "#/properties/email/maxLength", keyword: "maxLength", params: { limit: 254 } }];
                      return false;
                    }
                  }
                }
                var valid0 = _errs6 === errors;
              } else {
                var valid0 = true;
              }
              if (valid0) {
                if (data.full_name !== void 0) {
                  let data4 = data.full_name;
                  const _errs8 = errors;
                  if (typeof data4 !== "string" && data4 !== null) {
                    validate11.errors = [{ instancePath: instancePath + "/full_name", schemaPath: "#/properties/full_name/type", keyword: "type", params: { type: schema12.properties.full_name.type } }];
                    return false;
                  }
                  if (errors === _errs8) {
                    if (typeof data4 === "string") {
                      if (data4.length > 200) {
                        validate11.errors = [{ instancePath: instancePath + "/full_name", schemaPath: "#/properties/full_name/maxLength", keyword: "maxLength", params: { limit: 200 } }];
                        return false;
                      }
                    }
                  }
                  var valid0 = _errs8 === errors;
                } else {
                  var valid0 = true;
                }
                if (valid0) {
                  if (data.path !== void 0) {
                    let data5 = data.path;
                    const _errs10 = errors;
                    if (typeof data5 !== "string" && data5 !== null) {
                      validate11.errors = [{ instancePath: instancePath + "/path", schemaPath: "#/properties/path/type", keyword: "type", params: { type: schema12.properties.path.type } }];
                      return false;
                    }
                    if (errors === _errs10) {
                      if (typeof data5 === "string") {
                        if (data5.length > 2048) {
                          validate11.errors = [{ instancePath: instancePath + "/path", schemaPath: "#/properties/path/maxLength", keyword: "maxLength", params: { limit: 2048 } }];
                          return false;
                        }
                      }
                    }
                    var valid0 = _errs10 === errors;
                  } else {
                    var valid0 = true;
                  }
                  if (valid0) {
                    if (data.url !== void 0) {
                      let data6 = data.url;
                      const _errs12 = errors;
                      if (typeof data6 !== "string" && data6 !== null) {
                        validate11.errors = [{ instancePath: instancePath + "/url", schemaPath: "#/properties/url/type", keyword: "type", params: { type: schema12.properties.url.type } }];
                        return false;
                      }
                      if (errors === _errs12) {
                        if (typeof data6 === "string") {
                          if (data6.length > 2048) {
                            validate11.errors = [{ instancePath: instancePath + "/url", schemaPath: "#/properties/url/maxLength", keyword: "maxLength", params: { limit: 2048 } }];
                            return false;
                          }
                        }
                      }
                      var valid0 = _errs12 === errors;
                    } else {
                      var valid0 = true;
                    }
                    if (valid0) {
                      if (data.referrer !== void 0) {
                        let data7 = data.referrer;
                        const _errs14 = errors;
                        if (typeof data7 !== "string" && data7 !== null) {
                          validate11.errors = [{ instancePath: instancePath + "/referrer", schemaPath: "#/properties/referrer/type", keyword: "type", params: { type: schema12.properties.referrer.type } }];
                          return false;
                        }
                        if (errors === _errs14) {
                          if (typeof data7 === "string") {
                            if (data7.length > 2048) {
                              validate11.errors = [{ instancePath: instancePath + "/referrer", schemaPath: "#/properties/referrer/maxLength", keyword: "maxLength", params: { limit: 2048 } }];
                              return false;
                            }
                          }
                        }
                        var valid0 = _errs14 === errors;
                      } else {
                        var valid0 = true;
                      }
                      if (valid0) {
                        if (data.source !== void 0) {
                          let data8 = data.source;
                          const _errs16 = errors;
                          if (typeof data8 !== "string" && data8 !== null) {
                            validate11.errors = [{ instancePath: instancePath + "/source", schemaPath: "#/properties/source/type", keyword: "type", params: { type: schema12.properties.source.type } }];
                            return false;
                          }
                          if (errors === _errs16) {
                            if (typeof data8 === "string") {
                              if (data8.length > 254) {
                                validate11.errors = [{ instancePath: instancePath + "/source", schemaPath: "#/properties/source/maxLength", keyword: "maxLength", params: { limit: 254 } }];
                                return false;
                              }
                            }
                          }
                          var valid0 = _errs16 === errors;
                        } else {
                          var valid0 = true;
                        }
                        if (valid0) {
                          if (data.medium !== void 0) {
                            let data9 = data.medium;
                            const _errs18 = errors;
                            if (typeof data9 !== "string" && data9 !== null) {
                              validate11.errors = [{ instancePath: instancePath + "/medium", schemaPath: "#/properties/medium/type", keyword: "type", params: { type: schema12.properties.medium.type } }];
                              return false;
                            }
                            if (errors === _errs18) {
                              if (typeof data9 === "string") {
                                if (data9.length > 254) {
                                  validate11.errors = [{ instancePath: instancePath + "/medium", schemaPath: "#/properties/medium/maxLength", keyword: "maxLength", params: { limit: 254 } }];
                                  return false;
                                }
                              }
                            }
                            var valid0 = _errs18 === errors;
                          } else {
                            var valid0 = true;
                          }
                          if (valid0) {
                            if (data.campaign !== void 0) {
                              let data10 = data.campaign;
                              const _errs20 = errors;
                              if (typeof data10 !== "string" && data10 !== null) {
                                validate11.errors = [{ instancePath: instancePath + "/campaign", schemaPath: "#/properties/campaign/type", keyword: "type", params: { type: schema12.properties.campaign.type } }];
                                return false;
                              }
                              if (errors === _errs20) {
                                if (typeof data10 === "string") {
                                  if (data10.length > 254) {
                                    validate11.errors = [{ instancePath: instancePath + "/campaign", schemaPath: "#/properties/campaign/maxLength", keyword: "maxLength", params: { limit: 254 } }];
                                    return false;
                                  }
                                }
                              }
                              var valid0 = _errs20 === errors;
                            } else {
                              var valid0 = true;
                            }
                            if (valid0) {
                              if (data.content !== void 0) {
                                let data11 = data.content;
                                const _errs22 = errors;
                                if (typeof data11 !== "string" && data11 !== null) {
                                  validate11.errors = [{ instancePath: instancePath + "/content", schemaPath: "#/properties/content/type", keyword: "type", params: { type: schema12.properties.content.type } }];
                                  return false;
                                }
                                if (errors === _errs22) {
                                  if (typeof data11 === "string") {
                                    if (data11.length > 254) {
                                      validate11.errors = [{ instancePath: instancePath + "/content", schemaPath: "#/properties/content/maxLength", keyword: "maxLength", params: { limit: 254 } }];
                                      return false;
                                    }
                                  }
                                }
                                var valid0 = _errs22 === errors;
                              } else {
                                var valid0 = true;
                              }
                              if (valid0) {
                                if (data.properties !== void 0) {
                                  let data12 = data.properties;
                                  const _errs24 = errors;
                                  if (!(data12 && typeof data12 == "object" && !Array.isArray(data12)) && data12 !== null) {
                                    validate11.errors = [{ instancePath: instancePath + "/properties", schemaPath: "#/properties/properties/type", keyword: "type", params: { type: schema12.properties.properties.type } }];
                                    return false;
                                  }
                                  var valid0 = _errs24 === errors;
                                } else {
                                  var valid0 = true;
                                }
                                if (valid0) {
                                  if (data.anonymous_id !== void 0) {
                                    let data13 = data.anonymous_id;
                                    const _errs26 = errors;
                                    if (typeof data13 !== "string" && data13 !== null) {
                                      validate11.errors = [{ instancePath: instancePath + "/anonymous_id", schemaPath: "#/properties/anonymous_id/type", keyword: "type", params: { type: schema12.properties.anonymous_id.type } }];
                                      return false;
                                    }
                                    if (errors === _errs26) {
                                      if (typeof data13 === "string") {
                                        if (data13.length > 254) {
                                          validate11.errors = [{ instancePath: instancePath + "/anonymous_id", schemaPath: "#/properties/anonymous_id/maxLength", keyword: "maxLength", params: { limit: 254 } }];
                                          return false;
                                        }
                                      }
                                    }
                                    var valid0 = _errs26 === errors;
                                  } else {
                                    var valid0 = true;
                                  }
                                  if (valid0) {
                                    if (data.session_id !== void 0) {
                                      let data14 = data.session_id;
                                      const _errs28 = errors;
                                      if (typeof data14 !== "string" && data14 !== null) {
                                        validate11.errors = [{ instancePath: instancePath + "/session_id", schemaPath: "#/properties/session_id/type", keyword: "type", params: { type: schema12.properties.session_id.type } }];
                                        return false;
                                      }
                                      if (errors === _errs28) {
                                        if (typeof data14 === "string") {
                                          if (data14.length > 254) {
                                            validate11.errors = [{ instancePath: instancePath + "/session_id", schemaPath: "#/properties/session_id/maxLength", keyword: "maxLength", params: { limit: 254 } }];
                                            return false;
                                          }
                                        }
                                      }
                                      var valid0 = _errs28 === errors;
                                    } else {
                                      var valid0 = true;
                                    }
                                    if (valid0) {
                                      if (data.title !== void 0) {
                                        let data15 = data.title;
                                        const _errs30 = errors;
                                        if (typeof data15 !== "string" && data15 !== null) {
                                          validate11.errors = [{ instancePath: instancePath + "/title", schemaPath: "#/properties/title/type", keyword: "type", params: { type: schema12.properties.title.type } }];
                                          return false;
                                        }
                                        if (errors === _errs30) {
                                          if (typeof data15 === "string") {
                                            if (data15.length > 500) {
                                              validate11.errors = [{ instancePath: instancePath + "/title", schemaPath: "#/properties/title/maxLength", keyword: "maxLength", params: { limit: 500 } }];
                                              return false;
                                            }
                                          }
                                        }
                                        var valid0 = _errs30 === errors;
                                      } else {
                                        var valid0 = true;
                                      }
                                      if (valid0) {
                                        if (data.occurred_at !== void 0) {
                                          let data16 = data.occurred_at;
                                          const _errs32 = errors;
                                          if (typeof data16 !== "string" && data16 !== null) {
                                            validate11.errors = [{ instancePath: instancePath + "/occurred_at", schemaPath: "#/properties/occurred_at/type", keyword: "type", params: { type: schema12.properties.occurred_at.type } }];
                                            return false;
                                          }
                                          var valid0 = _errs32 === errors;
                                        } else {
                                          var valid0 = true;
                                        }
                                        if (valid0) {
                                          if (data.sent_at !== void 0) {
                                            let data17 = data.sent_at;
                                            const _errs34 = errors;
                                            if (typeof data17 !== "string" && data17 !== null) {
                                              validate11.errors = [{ instancePath: instancePath + "/sent_at", schemaPath: "#/properties/sent_at/type", keyword: "type", params: { type: schema12.properties.sent_at.type } }];
                                              return false;
                                            }
                                            var valid0 = _errs34 === errors;
                                          } else {
                                            var valid0 = true;
                                          }
                                          if (valid0) {
                                            if (data.screen_width !== void 0) {
                                              let data18 = data.screen_width;
                                              const _errs36 = errors;
                                              if (!(typeof data18 == "number" && (!(data18 % 1) && !isNaN(data18)) && isFinite(data18)) && data18 !== null) {
                                                validate11.errors = [{ instancePath: instancePath + "/screen_width", schemaPath: "#/properties/screen_width/type", keyword: "type", params: { type: schema12.properties.screen_width.type } }];
                                                return false;
                                              }
                                              if (errors === _errs36) {
                                                if (typeof data18 == "number" && isFinite(data18)) {
                                                  if (data18 > 65535 || isNaN(data18)) {
                                                    validate11.errors = [{ instancePath: instancePath + "/screen_width", schemaPath: "#/properties/screen_width/maximum", keyword: "maximum", params: { comparison: "<=", limit: 65535 } }];
                                                    return false;
                                                  } else {
                                                    if (data18 < 0 || isNaN(data18)) {
                                                      validate11.errors = [{ instancePath: instancePath + "/screen_width", schemaPath: "#/properties/screen_width/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
                                                      return false;
                                                    }
                                                  }
                                                }
                                              }
                                              var valid0 = _errs36 === errors;
                                            } else {
                                              var valid0 = true;
                                            }
                                            if (valid0) {
                                              if (data.language !== void 0) {
                                                let data19 = data.language;
                                                const _errs38 = errors;
                                                if (typeof data19 !== "string" && data19 !== null) {
                                                  validate11.errors = [{ instancePath: instancePath + "/language", schemaPath: "#/properties/language/type", keyword: "type", params: { type: schema12.properties.language.type } }];
                                                  return false;
                                                }
                                                if (errors === _errs38) {
                                                  if (typeof data19 === "string") {
                                                    if (data19.length > 64) {
                                                      validate11.errors = [{ instancePath: instancePath + "/language", schemaPath: "#/properties/language/maxLength", keyword: "maxLength", params: { limit: 64 } }];
                                                      return false;
                                                    }
                                                  }
                                                }
                                                var valid0 = _errs38 === errors;
                                              } else {
                                                var valid0 = true;
                                              }
                                              if (valid0) {
                                                if (data.timezone !== void 0) {
                                                  let data20 = data.timezone;
                                                  const _errs40 = errors;
                                                  if (typeof data20 !== "string" && data20 !== null) {
                                                    validate11.errors = [{ instancePath: instancePath + "/timezone", schemaPath: "#/properties/timezone/type", keyword: "type", params: { type: schema12.properties.timezone.type } }];
                                                    return false;
                                                  }
                                                  if (errors === _errs40) {
                                                    if (typeof data20 === "string") {
                                                      if (data20.length > 64) {
                                                        validate11.errors = [{ instancePath: instancePath + "/timezone", schemaPath: "#/properties/timezone/maxLength", keyword: "maxLength", params: { limit: 64 } }];
                                                        return false;
                                                      }
                                                    }
                                                  }
                                                  var valid0 = _errs40 === errors;
                                                } else {
                                                  var valid0 = true;
                                                }
                                                if (valid0) {
                                                  if (data.user_agent !== void 0) {
                                                    let data21 = data.user_agent;
                                                    const _errs42 = errors;
                                                    if (typeof data21 !== "string" && data21 !== null) {
                                                      validate11.errors = [{ instancePath: instancePath + "/user_agent", schemaPath: "#/properties/user_agent/type", keyword: "type", params: { type: schema12.properties.user_agent.type } }];
                                                      return false;
                                                    }
                                                    if (errors === _errs42) {
                                                      if (typeof data21 === "string") {
                                                        if (data21.length > 1024) {
                                                          validate11.errors = [{ instancePath: instancePath + "/user_agent", schemaPath: "#/properties/user_agent/maxLength", keyword: "maxLength", params: { limit: 1024 } }];
                                                          return false;
                                                        }
                                                      }
                                                    }
                                                    var valid0 = _errs42 === errors;
                                                  } else {
                                                    var valid0 = true;
                                                  }
                                                  if (valid0) {
                                                    if (data.ip !== void 0) {
                                                      let data22 = data.ip;
                                                      const _errs44 = errors;
                                                      if (typeof data22 !== "string" && data22 !== null) {
                                                        validate11.errors = [{ instancePath: instancePath + "/ip", schemaPath: "#/properties/ip/type", keyword: "type", params: { type: schema12.properties.ip.type } }];
                                                        return false;
                                                      }
                                                      if (errors === _errs44) {
                                                        if (typeof data22 === "string") {
                                                          if (data22.length > 64) {
                                                            validate11.errors = [{ instancePath: instancePath + "/ip", schemaPath: "#/properties/ip/maxLength", keyword: "maxLength", params: { limit: 64 } }];
                                                            return false;
                                                          }
                                                        }
                                                      }
                                                      var valid0 = _errs44 === errors;
                                                    } else {
                                                      var valid0 = true;
                                                    }
                                                    if (valid0) {
                                                      if (data.value_cents !== void 0) {
                                                        const _errs46 = errors;
                                                        validate11.errors = [{ instancePath: instancePath + "/value_cents", schemaPath: "#/properties/value_cents/not", keyword: "not", params: {} }];
                                                        return false;
                                                        var valid0 = _errs46 === errors;
                                                      } else {
                                                        var valid0 = true;
                                                      }
                                                    }
                                                  }
                                                }
                                              }
                                            }
                                          }
                                        }
                                      }
                                    }
                                  }
                                }
                              }
                            }
                          }
                        }
                      }
                    }
                  }
                }
              }
            }
          }
        }
      }
    } else {
      validate11.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
      return false;
    }
  }
  validate11.errors = vErrors;
  return errors === 0;
}
var batch = validate12;
function validate12(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null;
  let errors = 0;
  if (errors === 0) {
    if (data && typeof data == "object" && !Array.isArray(data)) {
      let missing0;
      if (data.events === void 0 && (missing0 = "events")) {
        validate12.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
        return false;
      } else {
        if (data.events !== void 0) {
          let data0 = data.events;
          const _errs1 = errors;
          if (errors === _errs1) {
            if (Array.isArray(data0)) {
              if (data0.length > 1e3) {
                validate12.errors = [{ instancePath: instancePath + "/events", schemaPath: "#/properties/events/maxItems", keyword: "maxItems", params: { limit: 1e3 } }];
                return false;
              }
            } else {
              validate12.errors = [{ instancePath: instancePath + "/events", schemaPath: "#/properties/events/type", keyword: "type", params: { type: "array" } }];
              return false;
            }
          }
          var valid0 = _errs1 === errors;
        } else {
          var valid0 = true;
        }
        if (valid0) {
          if (data.value_cents !== void 0) {
            const _errs3 = errors;
            validate12.errors = [{ instancePath: instancePath + "/value_cents", schemaPath: "#/properties/value_cents/not", keyword: "not", params: {} }];
            return false;
            var valid0 = _errs3 === errors;
          } else {
            var valid0 = true;
          }
        }
      }
    } else {
      validate12.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
      return false;
    }
  }
  validate12.errors = vErrors;
  return errors === 0;
}
var visit = validate13;
var schema14 = { "type": "object", "properties": { "url": { "type": "string", "minLength": 1, "maxLength": 2048 }, "method": { "type": ["string", "null"], "maxLength": 16 }, "user_agent": { "type": "string", "maxLength": 1024 }, "ip": { "type": ["string", "null"], "maxLength": 64 }, "status_code": { "type": ["integer", "null"], "minimum": 100, "maximum": 599 }, "referrer": { "type": ["string", "null"], "maxLength": 2048 }, "response_ms": { "type": ["number", "null"], "minimum": 0, "maximum": 4294967295 }, "occurred_at": { "type": ["string", "null"] }, "client_event_id": { "type": ["string", "null"], "maxLength": 254 } }, "required": ["url", "user_agent"] };
function validate13(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null;
  let errors = 0;
  if (errors === 0) {
    if (data && typeof data == "object" && !Array.isArray(data)) {
      let missing0;
      if (data.url === void 0 && (missing0 = "url") || data.user_agent === void 0 && (missing0 = "user_agent")) {
        validate13.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
        return false;
      } else {
        if (data.url !== void 0) {
          let data0 = data.url;
          const _errs1 = errors;
          if (errors === _errs1) {
            if (typeof data0 === "string") {
              if (data0.length > 2048) {
                validate13.errors = [{ instancePath: instancePath + "/url", schemaPath: "#/properties/url/maxLength", keyword: "maxLength", params: { limit: 2048 } }];
                return false;
              } else {
                if (data0.length < 1) {
                  validate13.errors = [{ instancePath: instancePath + "/url", schemaPath: "#/properties/url/minLength", keyword: "minLength", params: { limit: 1 } }];
                  return false;
                }
              }
            } else {
              validate13.errors = [{ instancePath: instancePath + "/url", schemaPath: "#/properties/url/type", keyword: "type", params: { type: "string" } }];
              return false;
            }
          }
          var valid0 = _errs1 === errors;
        } else {
          var valid0 = true;
        }
        if (valid0) {
          if (data.method !== void 0) {
            let data1 = data.method;
            const _errs3 = errors;
            if (typeof data1 !== "string" && data1 !== null) {
              validate13.errors = [{ instancePath: instancePath + "/method", schemaPath: "#/properties/method/type", keyword: "type", params: { type: schema14.properties.method.type } }];
              return false;
            }
            if (errors === _errs3) {
              if (typeof data1 === "string") {
                if (data1.length > 16) {
                  validate13.errors = [{ instancePath: instancePath + "/method", schemaPath: "#/properties/method/maxLength", keyword: "maxLength", params: { limit: 16 } }];
                  return false;
                }
              }
            }
            var valid0 = _errs3 === errors;
          } else {
            var valid0 = true;
          }
          if (valid0) {
            if (data.user_agent !== void 0) {
              let data2 = data.user_agent;
              const _errs5 = errors;
              if (errors === _errs5) {
                if (typeof data2 === "string") {
                  if (data2.length > 1024) {
                    validate13.errors = [{ instancePath: instancePath + "/user_agent", schemaPath: "#/properties/user_agent/maxLength", keyword: "maxLength", params: { limit: 1024 } }];
                    return false;
                  }
                } else {
                  validate13.errors = [{ instancePath: instancePath + "/user_agent", schemaPath: "#/properties/user_agent/type", keyword: "type", params: { type: "string" } }];
                  return false;
                }
              }
              var valid0 = _errs5 === errors;
            } else {
              var valid0 = true;
            }
            if (valid0) {
              if (data.ip !== void 0) {
                let data3 = data.ip;
                const _errs7 = errors;
                if (typeof data3 !== "string" && data3 !== null) {
                  validate13.errors = [{ instancePath: instancePath + "/ip", schemaPath: "#/properties/ip/type", keyword: "type", params: { type: schema14.properties.ip.type } }];
                  return false;
                }
                if (errors === _errs7) {
                  if (typeof data3 === "string") {
                    if (data3.length > 64) {
                      validate13.errors = [{ instancePath: instancePath + "/ip", schemaPath: "#/properties/ip/maxLength", keyword: "maxLength", params: { limit: 64 } }];
                      return false;
                    }
                  }
                }
                var valid0 = _errs7 === errors;
              } else {
                var valid0 = true;
              }
              if (valid0) {
                if (data.status_code !== void 0) {
                  let data4 = data.status_code;
                  const _errs9 = errors;
                  if (!(typeof data4 == "number" && (!(data4 % 1) && !isNaN(data4)) && isFinite(data4)) && data4 !== null) {
                    validate13.errors = [{ instancePath: instancePath + "/status_code", schemaPath: "#/properties/status_code/type", keyword: "type", params: { type: schema14.properties.status_code.type } }];
                    return false;
                  }
                  if (errors === _errs9) {
                    if (typeof data4 == "number" && isFinite(data4)) {
                      if (data4 > 599 || isNaN(data4)) {
                        validate13.errors = [{ instancePath: instancePath + "/status_code", schemaPath: "#/properties/status_code/maximum", keyword: "maximum", params: { comparison: "<=", limit: 599 } }];
                        return false;
                      } else {
                        if (data4 < 100 || isNaN(data4)) {
                          validate13.errors = [{ instancePath: instancePath + "/status_code", schemaPath: "#/properties/status_code/minimum", keyword: "minimum", params: { comparison: ">=", limit: 100 } }];
                          return false;
                        }
                      }
                    }
                  }
                  var valid0 = _errs9 === errors;
                } else {
                  var valid0 = true;
                }
                if (valid0) {
                  if (data.referrer !== void 0) {
                    let data5 = data.referrer;
                    const _errs11 = errors;
                    if (typeof data5 !== "string" && data5 !== null) {
                      validate13.errors = [{ instancePath: instancePath + "/referrer", schemaPath: "#/properties/referrer/type", keyword: "type", params: { type: schema14.properties.referrer.type } }];
                      return false;
                    }
                    if (errors === _errs11) {
                      if (typeof data5 === "string") {
                        if (data5.length > 2048) {
                          validate13.errors = [{ instancePath: instancePath + "/referrer", schemaPath: "#/properties/referrer/maxLength", keyword: "maxLength", params: { limit: 2048 } }];
                          return false;
                        }
                      }
                    }
                    var valid0 = _errs11 === errors;
                  } else {
                    var valid0 = true;
                  }
                  if (valid0) {
                    if (data.response_ms !== void 0) {
                      let data6 = data.response_ms;
                      const _errs13 = errors;
                      if (!(typeof data6 == "number" && isFinite(data6)) && data6 !== null) {
                        validate13.errors = [{ instancePath: instancePath + "/response_ms", schemaPath: "#/properties/response_ms/type", keyword: "type", params: { type: schema14.properties.response_ms.type } }];
                        return false;
                      }
                      if (errors === _errs13) {
                        if (typeof data6 == "number" && isFinite(data6)) {
                          if (data6 > 4294967295 || isNaN(data6)) {
                            validate13.errors = [{ instancePath: instancePath + "/response_ms", schemaPath: "#/properties/response_ms/maximum", keyword: "maximum", params: { comparison: "<=", limit: 4294967295 } }];
                            return false;
                          } else {
                            if (data6 < 0 || isNaN(data6)) {
                              validate13.errors = [{ instancePath: instancePath + "/response_ms", schemaPath: "#/properties/response_ms/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
                              return false;
                            }
                          }
                        }
                      }
                      var valid0 = _errs13 === errors;
                    } else {
                      var valid0 = true;
                    }
                    if (valid0) {
                      if (data.occurred_at !== void 0) {
                        let data7 = data.occurred_at;
                        const _errs15 = errors;
                        if (typeof data7 !== "string" && data7 !== null) {
                          validate13.errors = [{ instancePath: instancePath + "/occurred_at", schemaPath: "#/properties/occurred_at/type", keyword: "type", params: { type: schema14.properties.occurred_at.type } }];
                          return false;
                        }
                        var valid0 = _errs15 === errors;
                      } else {
                        var valid0 = true;
                      }
                      if (valid0) {
                        if (data.client_event_id !== void 0) {
                          let data8 = data.client_event_id;
                          const _errs17 = errors;
                          if (typeof data8 !== "string" && data8 !== null) {
                            validate13.errors = [{ instancePath: instancePath + "/client_event_id", schemaPath: "#/properties/client_event_id/type", keyword: "type", params: { type: schema14.properties.client_event_id.type } }];
                            return false;
                          }
                          if (errors === _errs17) {
                            if (typeof data8 === "string") {
                              if (data8.length > 254) {
                                validate13.errors = [{ instancePath: instancePath + "/client_event_id", schemaPath: "#/properties/client_event_id/maxLength", keyword: "maxLength", params: { limit: 254 } }];
                                return false;
                              }
                            }
                          }
                          var valid0 = _errs17 === errors;
                        } else {
                          var valid0 = true;
                        }
                      }
                    }
                  }
                }
              }
            }
          }
        }
      }
    } else {
      validate13.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
      return false;
    }
  }
  validate13.errors = vErrors;
  return errors === 0;
}
var replay = validate14;
var schema15 = { "type": "object", "properties": { "anonymous_id": { "type": "string", "minLength": 1, "maxLength": 254 }, "session_id": { "type": "string", "minLength": 1, "maxLength": 254 }, "page_id": { "type": "string", "minLength": 1, "maxLength": 64 }, "sequence": { "type": "integer", "minimum": 0, "maximum": 5e3 }, "url": { "type": ["string", "null"], "maxLength": 2048 }, "timezone": { "type": ["string", "null"], "maxLength": 64 }, "sent_at": { "type": ["string", "null"] }, "events": { "type": "string", "minLength": 1 } }, "required": ["anonymous_id", "session_id", "page_id", "sequence", "events"] };
function validate14(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null;
  let errors = 0;
  if (errors === 0) {
    if (data && typeof data == "object" && !Array.isArray(data)) {
      let missing0;
      if (data.anonymous_id === void 0 && (missing0 = "anonymous_id") || data.session_id === void 0 && (missing0 = "session_id") || data.page_id === void 0 && (missing0 = "page_id") || data.sequence === void 0 && (missing0 = "sequence") || data.events === void 0 && (missing0 = "events")) {
        validate14.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
        return false;
      } else {
        if (data.anonymous_id !== void 0) {
          let data0 = data.anonymous_id;
          const _errs1 = errors;
          if (errors === _errs1) {
            if (typeof data0 === "string") {
              if (data0.length > 254) {
                validate14.errors = [{ instancePath: instancePath + "/anonymous_id", schemaPath: "#/properties/anonymous_id/maxLength", keyword: "maxLength", params: { limit: 254 } }];
                return false;
              } else {
                if (data0.length < 1) {
                  validate14.errors = [{ instancePath: instancePath + "/anonymous_id", schemaPath: "#/properties/anonymous_id/minLength", keyword: "minLength", params: { limit: 1 } }];
                  return false;
                }
              }
            } else {
              validate14.errors = [{ instancePath: instancePath + "/anonymous_id", schemaPath: "#/properties/anonymous_id/type", keyword: "type", params: { type: "string" } }];
              return false;
            }
          }
          var valid0 = _errs1 === errors;
        } else {
          var valid0 = true;
        }
        if (valid0) {
          if (data.session_id !== void 0) {
            let data1 = data.session_id;
            const _errs3 = errors;
            if (errors === _errs3) {
              if (typeof data1 === "string") {
                if (data1.length > 254) {
                  validate14.errors = [{ instancePath: instancePath + "/session_id", schemaPath: "#/properties/session_id/maxLength", keyword: "maxLength", params: { limit: 254 } }];
                  return false;
                } else {
                  if (data1.length < 1) {
                    validate14.errors = [{ instancePath: instancePath + "/session_id", schemaPath: "#/properties/session_id/minLength", keyword: "minLength", params: { limit: 1 } }];
                    return false;
                  }
                }
              } else {
                validate14.errors = [{ instancePath: instancePath + "/session_id", schemaPath: "#/properties/session_id/type", keyword: "type", params: { type: "string" } }];
                return false;
              }
            }
            var valid0 = _errs3 === errors;
          } else {
            var valid0 = true;
          }
          if (valid0) {
            if (data.page_id !== void 0) {
              let data2 = data.page_id;
              const _errs5 = errors;
              if (errors === _errs5) {
                if (typeof data2 === "string") {
                  if (data2.length > 64) {
                    validate14.errors = [{ instancePath: instancePath + "/page_id", schemaPath: "#/properties/page_id/maxLength", keyword: "maxLength", params: { limit: 64 } }];
                    return false;
                  } else {
                    if (data2.length < 1) {
                      validate14.errors = [{ instancePath: instancePath + "/page_id", schemaPath: "#/properties/page_id/minLength", keyword: "minLength", params: { limit: 1 } }];
                      return false;
                    }
                  }
                } else {
                  validate14.errors = [{ instancePath: instancePath + "/page_id", schemaPath: "#/properties/page_id/type", keyword: "type", params: { type: "string" } }];
                  return false;
                }
              }
              var valid0 = _errs5 === errors;
            } else {
              var valid0 = true;
            }
            if (valid0) {
              if (data.sequence !== void 0) {
                let data3 = data.sequence;
                const _errs7 = errors;
                if (!(typeof data3 == "number" && (!(data3 % 1) && !isNaN(data3)) && isFinite(data3))) {
                  validate14.errors = [{ instancePath: instancePath + "/sequence", schemaPath: "#/properties/sequence/type", keyword: "type", params: { type: "integer" } }];
                  return false;
                }
                if (errors === _errs7) {
                  if (typeof data3 == "number" && isFinite(data3)) {
                    if (data3 > 5e3 || isNaN(data3)) {
                      validate14.errors = [{ instancePath: instancePath + "/sequence", schemaPath: "#/properties/sequence/maximum", keyword: "maximum", params: { comparison: "<=", limit: 5e3 } }];
                      return false;
                    } else {
                      if (data3 < 0 || isNaN(data3)) {
                        validate14.errors = [{ instancePath: instancePath + "/sequence", schemaPath: "#/properties/sequence/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } }];
                        return false;
                      }
                    }
                  }
                }
                var valid0 = _errs7 === errors;
              } else {
                var valid0 = true;
              }
              if (valid0) {
                if (data.url !== void 0) {
                  let data4 = data.url;
                  const _errs9 = errors;
                  if (typeof data4 !== "string" && data4 !== null) {
                    validate14.errors = [{ instancePath: instancePath + "/url", schemaPath: "#/properties/url/type", keyword: "type", params: { type: schema15.properties.url.type } }];
                    return false;
                  }
                  if (errors === _errs9) {
                    if (typeof data4 === "string") {
                      if (data4.length > 2048) {
                        validate14.errors = [{ instancePath: instancePath + "/url", schemaPath: "#/properties/url/maxLength", keyword: "maxLength", params: { limit: 2048 } }];
                        return false;
                      }
                    }
                  }
                  var valid0 = _errs9 === errors;
                } else {
                  var valid0 = true;
                }
                if (valid0) {
                  if (data.timezone !== void 0) {
                    let data5 = data.timezone;
                    const _errs11 = errors;
                    if (typeof data5 !== "string" && data5 !== null) {
                      validate14.errors = [{ instancePath: instancePath + "/timezone", schemaPath: "#/properties/timezone/type", keyword: "type", params: { type: schema15.properties.timezone.type } }];
                      return false;
                    }
                    if (errors === _errs11) {
                      if (typeof data5 === "string") {
                        if (data5.length > 64) {
                          validate14.errors = [{ instancePath: instancePath + "/timezone", schemaPath: "#/properties/timezone/maxLength", keyword: "maxLength", params: { limit: 64 } }];
                          return false;
                        }
                      }
                    }
                    var valid0 = _errs11 === errors;
                  } else {
                    var valid0 = true;
                  }
                  if (valid0) {
                    if (data.sent_at !== void 0) {
                      let data6 = data.sent_at;
                      const _errs13 = errors;
                      if (typeof data6 !== "string" && data6 !== null) {
                        validate14.errors = [{ instancePath: instancePath + "/sent_at", schemaPath: "#/properties/sent_at/type", keyword: "type", params: { type: schema15.properties.sent_at.type } }];
                        return false;
                      }
                      var valid0 = _errs13 === errors;
                    } else {
                      var valid0 = true;
                    }
                    if (valid0) {
                      if (data.events !== void 0) {
                        let data7 = data.events;
                        const _errs15 = errors;
                        if (errors === _errs15) {
                          if (typeof data7 === "string") {
                            if (data7.length < 1) {
                              validate14.errors = [{ instancePath: instancePath + "/events", schemaPath: "#/properties/events/minLength", keyword: "minLength", params: { limit: 1 } }];
                              return false;
                            }
                          } else {
                            validate14.errors = [{ instancePath: instancePath + "/events", schemaPath: "#/properties/events/type", keyword: "type", params: { type: "string" } }];
                            return false;
                          }
                        }
                        var valid0 = _errs15 === errors;
                      } else {
                        var valid0 = true;
                      }
                    }
                  }
                }
              }
            }
          }
        }
      }
    } else {
      validate14.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
      return false;
    }
  }
  validate14.errors = vErrors;
  return errors === 0;
}
var visits = validate15;
function validate15(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null;
  let errors = 0;
  if (errors === 0) {
    if (data && typeof data == "object" && !Array.isArray(data)) {
      let missing0;
      if (data.visits === void 0 && (missing0 = "visits")) {
        validate15.errors = [{ instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: missing0 } }];
        return false;
      } else {
        if (data.visits !== void 0) {
          let data0 = data.visits;
          const _errs1 = errors;
          if (errors === _errs1) {
            if (Array.isArray(data0)) {
              if (data0.length > 1e3) {
                validate15.errors = [{ instancePath: instancePath + "/visits", schemaPath: "#/properties/visits/maxItems", keyword: "maxItems", params: { limit: 1e3 } }];
                return false;
              }
            } else {
              validate15.errors = [{ instancePath: instancePath + "/visits", schemaPath: "#/properties/visits/type", keyword: "type", params: { type: "array" } }];
              return false;
            }
          }
        }
      }
    } else {
      validate15.errors = [{ instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } }];
      return false;
    }
  }
  validate15.errors = vErrors;
  return errors === 0;
}

// schemas:exact
var exact_exports = {};
__export(exact_exports, {
  batch: () => batch2,
  event: () => event2,
  replay: () => replay2,
  sender: () => sender2,
  visit: () => visit2,
  visits: () => visits2
});
var sender2 = validate102;
function validate102(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null;
  let errors = 0;
  if (data && typeof data == "object" && !Array.isArray(data)) {
    if (data.tracking_key === void 0) {
      const err0 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "tracking_key" } };
      if (vErrors === null) {
        vErrors = [err0];
      } else {
        vErrors.push(err0);
      }
      errors++;
    }
    if (data.tracking_key !== void 0) {
      if (typeof data.tracking_key !== "string") {
        const err1 = { instancePath: instancePath + "/tracking_key", schemaPath: "#/properties/tracking_key/type", keyword: "type", params: { type: "string" } };
        if (vErrors === null) {
          vErrors = [err1];
        } else {
          vErrors.push(err1);
        }
        errors++;
      }
    }
  } else {
    const err2 = { instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } };
    if (vErrors === null) {
      vErrors = [err2];
    } else {
      vErrors.push(err2);
    }
    errors++;
  }
  validate102.errors = vErrors;
  return errors === 0;
}
var event2 = validate112;
var schema122 = { "type": "object", "properties": { "event_type": { "enum": ["track", "identify", "conversion", "", null] }, "event_name": { "type": "string", "minLength": 1, "maxLength": 120 }, "client_event_id": { "type": ["string", "null"], "maxLength": 254 }, "email": { "type": ["string", "null"], "maxLength": 254 }, "full_name": { "type": ["string", "null"], "maxLength": 200 }, "path": { "type": ["string", "null"], "maxLength": 2048 }, "url": { "type": ["string", "null"], "maxLength": 2048 }, "referrer": { "type": ["string", "null"], "maxLength": 2048 }, "source": { "type": ["string", "null"], "maxLength": 254 }, "medium": { "type": ["string", "null"], "maxLength": 254 }, "campaign": { "type": ["string", "null"], "maxLength": 254 }, "content": { "type": ["string", "null"], "maxLength": 254 }, "properties": { "type": ["object", "null"] }, "anonymous_id": { "type": ["string", "null"], "maxLength": 254 }, "session_id": { "type": ["string", "null"], "maxLength": 254 }, "title": { "type": ["string", "null"], "maxLength": 500 }, "occurred_at": { "type": ["string", "null"] }, "sent_at": { "type": ["string", "null"] }, "screen_width": { "type": ["integer", "null"], "minimum": 0, "maximum": 65535 }, "language": { "type": ["string", "null"], "maxLength": 64 }, "timezone": { "type": ["string", "null"], "maxLength": 64 }, "user_agent": { "type": ["string", "null"], "maxLength": 1024 }, "ip": { "type": ["string", "null"], "maxLength": 64 }, "value_cents": { "not": {} } }, "required": ["event_name"] };
var func2 = require_ucs2length().default;
function validate112(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null;
  let errors = 0;
  if (data && typeof data == "object" && !Array.isArray(data)) {
    if (data.event_name === void 0) {
      const err0 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "event_name" } };
      if (vErrors === null) {
        vErrors = [err0];
      } else {
        vErrors.push(err0);
      }
      errors++;
    }
    if (data.event_type !== void 0) {
      let data0 = data.event_type;
      if (!(data0 === "track" || data0 === "identify" || data0 === "conversion" || data0 === "" || data0 === null)) {
        const err1 = { instancePath: instancePath + "/event_type", schemaPath: "#/properties/event_type/enum", keyword: "enum", params: { allowedValues: schema122.properties.event_type.enum } };
        if (vErrors === null) {
          vErrors = [err1];
        } else {
          vErrors.push(err1);
        }
        errors++;
      }
    }
    if (data.event_name !== void 0) {
      let data1 = data.event_name;
      if (typeof data1 === "string") {
        if (func2(data1) > 120) {
          const err2 = { instancePath: instancePath + "/event_name", schemaPath: "#/properties/event_name/maxLength", keyword: "maxLength", params: { limit: 120 } };
          if (vErrors === null) {
            vErrors = [err2];
          } else {
            vErrors.push(err2);
          }
          errors++;
        }
        if (func2(data1) < 1) {
          const err3 = { instancePath: instancePath + "/event_name", schemaPath: "#/properties/event_name/minLength", keyword: "minLength", params: { limit: 1 } };
          if (vErrors === null) {
            vErrors = [err3];
          } else {
            vErrors.push(err3);
          }
          errors++;
        }
      } else {
        const err4 = { instancePath: instancePath + "/event_name", schemaPath: "#/properties/event_name/type", keyword: "type", params: { type: "string" } };
        if (vErrors === null) {
          vErrors = [err4];
        } else {
          vErrors.push(err4);
        }
        errors++;
      }
    }
    if (data.client_event_id !== void 0) {
      let data2 = data.client_event_id;
      if (typeof data2 !== "string" && data2 !== null) {
        const err5 = { instancePath: instancePath + "/client_event_id", schemaPath: "#/properties/client_event_id/type", keyword: "type", params: { type: schema122.properties.client_event_id.type } };
        if (vErrors === null) {
          vErrors = [err5];
        } else {
          vErrors.push(err5);
        }
        errors++;
      }
      if (typeof data2 === "string") {
        if (func2(data2) > 254) {
          const err6 = { instancePath: instancePath + "/client_event_id", schemaPath: "#/properties/client_event_id/maxLength", keyword: "maxLength", params: { limit: 254 } };
          if (vErrors === null) {
            vErrors = [err6];
          } else {
            vErrors.push(err6);
          }
          errors++;
        }
      }
    }
    if (data.email !== void 0) {
      let data3 = data.email;
      if (typeof data3 !== "string" && data3 !== null) {
        const err7 = { instancePath: instancePath + "/email", schemaPath: "#/properties/email/type", keyword: "type", params: { type: schema122.properties.email.type } };
        if (vErrors === null) {
          vErrors = [err7];
        } else {
          vErrors.push(err7);
        }
        errors++;
      }
      if (typeof data3 === "string") {
        if (func2(data3) > 254) {
          const err8 = { instancePath: instancePath + "/email", schemaPath: "#/properties/email/maxLength", keyword: "maxLength", params: { limit: 254 } };
          if (vErrors === null) {
            vErrors = [err8];
          } else {
            vErrors.push(err8);
          }
          errors++;
        }
      }
    }
    if (data.full_name !== void 0) {
      let data4 = data.full_name;
      if (typeof data4 !== "string" && data4 !== null) {
        const err9 = { instancePath: instancePath + "/full_name", schemaPath: "#/properties/full_name/type", keyword: "type", params: { type: schema122.properties.full_name.type } };
        if (vErrors === null) {
          vErrors = [err9];
        } else {
          vErrors.push(err9);
        }
        errors++;
      }
      if (typeof data4 === "string") {
        if (func2(data4) > 200) {
          const err10 = { instancePath: instancePath + "/full_name", schemaPath: "#/properties/full_name/maxLength", keyword: "maxLength", params: { limit: 200 } };
          if (vErrors === null) {
            vErrors = [err10];
          } else {
            vErrors.push(err10);
          }
          errors++;
        }
      }
    }
    if (data.path !== void 0) {
      let data5 = data.path;
      if (typeof data5 !== "string" && data5 !== null) {
        const err11 = { instancePath: instancePath + "/path", schemaPath: "#/properties/path/type", keyword: "type", params: { type: schema122.properties.path.type } };
        if (vErrors === null) {
          vErrors = [err11];
        } else {
          vErrors.push(err11);
        }
        errors++;
      }
      if (typeof data5 === "string") {
        if (func2(data5) > 2048) {
          const err12 = { instancePath: instancePath + "/path", schemaPath: "#/properties/path/maxLength", keyword: "maxLength", params: { limit: 2048 } };
          if (vErrors === null) {
            vErrors = [err12];
          } else {
            vErrors.push(err12);
          }
          errors++;
        }
      }
    }
    if (data.url !== void 0) {
      let data6 = data.url;
      if (typeof data6 !== "string" && data6 !== null) {
        const err13 = { instancePath: instancePath + "/url", schemaPath: "#/properties/url/type", keyword: "type", params: { type: schema122.properties.url.type } };
        if (vErrors === null) {
          vErrors = [err13];
        } else {
          vErrors.push(err13);
        }
        errors++;
      }
      if (typeof data6 === "string") {
        if (func2(data6) > 2048) {
          const err14 = { instancePath: instancePath + "/url", schemaPath: "#/properties/url/maxLength", keyword: "maxLength", params: { limit: 2048 } };
          if (vErrors === null) {
            vErrors = [err14];
          } else {
            vErrors.push(err14);
          }
          errors++;
        }
      }
    }
    if (data.referrer !== void 0) {
      let data7 = data.referrer;
      if (typeof data7 !== "string" && data7 !== null) {
        const err15 = { instancePath: instancePath + "/referrer", schemaPath: "#/properties/referrer/type", keyword: "type", params: { type: schema122.properties.referrer.type } };
        if (vErrors === null) {
          vErrors = [err15];
        } else {
          vErrors.push(err15);
        }
        errors++;
      }
      if (typeof data7 === "string") {
        if (func2(data7) > 2048) {
          const err16 = { instancePath: instancePath + "/referrer", schemaPath: "#/properties/referrer/maxLength", keyword: "maxLength", params: { limit: 2048 } };
          if (vErrors === null) {
            vErrors = [err16];
          } else {
            vErrors.push(err16);
          }
          errors++;
        }
      }
    }
    if (data.source !== void 0) {
      let data8 = data.source;
      if (typeof data8 !== "string" && data8 !== null) {
        const err17 = { instancePath: instancePath + "/source", schemaPath: "#/properties/source/type", keyword: "type", params: { type: schema122.properties.source.type } };
        if (vErrors === null) {
          vErrors = [err17];
        } else {
          vErrors.push(err17);
        }
        errors++;
      }
      if (typeof data8 === "string") {
        if (func2(data8) > 254) {
          const err18 = { instancePath: instancePath + "/source", schemaPath: "#/properties/source/maxLength", keyword: "maxLength", params: { limit: 254 } };
          if (vErrors === null) {
            vErrors = [err18];
          } else {
            vErrors.push(err18);
          }
          errors++;
        }
      }
    }
    if (data.medium !== void 0) {
      let data9 = data.medium;
      if (typeof data9 !== "string" && data9 !== null) {
        const err19 = { instancePath: instancePath + "/medium", schemaPath: "#/properties/medium/type", keyword: "type", params: { type: schema122.properties.medium.type } };
        if (vErrors === null) {
          vErrors = [err19];
        } else {
          vErrors.push(err19);
        }
        errors++;
      }
      if (typeof data9 === "string") {
        if (func2(data9) > 254) {
          const err20 = { instancePath: instancePath + "/medium", schemaPath: "#/properties/medium/maxLength", keyword: "maxLength", params: { limit: 254 } };
          if (vErrors === null) {
            vErrors = [err20];
          } else {
            vErrors.push(err20);
          }
          errors++;
        }
      }
    }
    if (data.campaign !== void 0) {
      let data10 = data.campaign;
      if (typeof data10 !== "string" && data10 !== null) {
        const err21 = { instancePath: instancePath + "/campaign", schemaPath: "#/properties/campaign/type", keyword: "type", params: { type: schema122.properties.campaign.type } };
        if (vErrors === null) {
          vErrors = [err21];
        } else {
          vErrors.push(err21);
        }
        errors++;
      }
      if (typeof data10 === "string") {
        if (func2(data10) > 254) {
          const err22 = { instancePath: instancePath + "/campaign", schemaPath: "#/properties/campaign/maxLength", keyword: "maxLength", params: { limit: 254 } };
          if (vErrors === null) {
            vErrors = [err22];
          } else {
            vErrors.push(err22);
          }
          errors++;
        }
      }
    }
    if (data.content !== void 0) {
      let data11 = data.content;
      if (typeof data11 !== "string" && data11 !== null) {
        const err23 = { instancePath: instancePath + "/content", schemaPath: "#/properties/content/type", keyword: "type", params: { type: schema122.properties.content.type } };
        if (vErrors === null) {
          vErrors = [err23];
        } else {
          vErrors.push(err23);
        }
        errors++;
      }
      if (typeof data11 === "string") {
        if (func2(data11) > 254) {
          const err24 = { instancePath: instancePath + "/content", schemaPath: "#/properties/content/maxLength", keyword: "maxLength", params: { limit: 254 } };
          if (vErrors === null) {
            vErrors = [err24];
          } else {
            vErrors.push(err24);
          }
          errors++;
        }
      }
    }
    if (data.properties !== void 0) {
      let data12 = data.properties;
      if (!(data12 && typeof data12 == "object" && !Array.isArray(data12)) && data12 !== null) {
        const err25 = { instancePath: instancePath + "/properties", schemaPath: "#/properties/properties/type", keyword: "type", params: { type: schema122.properties.properties.type } };
        if (vErrors === null) {
          vErrors = [err25];
        } else {
          vErrors.push(err25);
        }
        errors++;
      }
    }
    if (data.anonymous_id !== void 0) {
      let data13 = data.anonymous_id;
      if (typeof data13 !== "string" && data13 !== null) {
        const err26 = { instancePath: instancePath + "/anonymous_id", schemaPath: "#/properties/anonymous_id/type", keyword: "type", params: { type: schema122.properties.anonymous_id.type } };
        if (vErrors === null) {
          vErrors = [err26];
        } else {
          vErrors.push(err26);
        }
        errors++;
      }
      if (typeof data13 === "string") {
        if (func2(data13) > 254) {
          const err27 = { instancePath: instancePath + "/anonymous_id", schemaPath: "#/properties/anonymous_id/maxLength", keyword: "maxLength", params: { limit: 254 } };
          if (vErrors === null) {
            vErrors = [err27];
          } else {
            vErrors.push(err27);
          }
          errors++;
        }
      }
    }
    if (data.session_id !== void 0) {
      let data14 = data.session_id;
      if (typeof data14 !== "string" && data14 !== null) {
        const err28 = { instancePath: instancePath + "/session_id", schemaPath: "#/properties/session_id/type", keyword: "type", params: { type: schema122.properties.session_id.type } };
        if (vErrors === null) {
          vErrors = [err28];
        } else {
          vErrors.push(err28);
        }
        errors++;
      }
      if (typeof data14 === "string") {
        if (func2(data14) > 254) {
          const err29 = { instancePath: instancePath + "/session_id", schemaPath: "#/properties/session_id/maxLength", keyword: "maxLength", params: { limit: 254 } };
          if (vErrors === null) {
            vErrors = [err29];
          } else {
            vErrors.push(err29);
          }
          errors++;
        }
      }
    }
    if (data.title !== void 0) {
      let data15 = data.title;
      if (typeof data15 !== "string" && data15 !== null) {
        const err30 = { instancePath: instancePath + "/title", schemaPath: "#/properties/title/type", keyword: "type", params: { type: schema122.properties.title.type } };
        if (vErrors === null) {
          vErrors = [err30];
        } else {
          vErrors.push(err30);
        }
        errors++;
      }
      if (typeof data15 === "string") {
        if (func2(data15) > 500) {
          const err31 = { instancePath: instancePath + "/title", schemaPath: "#/properties/title/maxLength", keyword: "maxLength", params: { limit: 500 } };
          if (vErrors === null) {
            vErrors = [err31];
          } else {
            vErrors.push(err31);
          }
          errors++;
        }
      }
    }
    if (data.occurred_at !== void 0) {
      let data16 = data.occurred_at;
      if (typeof data16 !== "string" && data16 !== null) {
        const err32 = { instancePath: instancePath + "/occurred_at", schemaPath: "#/properties/occurred_at/type", keyword: "type", params: { type: schema122.properties.occurred_at.type } };
        if (vErrors === null) {
          vErrors = [err32];
        } else {
          vErrors.push(err32);
        }
        errors++;
      }
    }
    if (data.sent_at !== void 0) {
      let data17 = data.sent_at;
      if (typeof data17 !== "string" && data17 !== null) {
        const err33 = { instancePath: instancePath + "/sent_at", schemaPath: "#/properties/sent_at/type", keyword: "type", params: { type: schema122.properties.sent_at.type } };
        if (vErrors === null) {
          vErrors = [err33];
        } else {
          vErrors.push(err33);
        }
        errors++;
      }
    }
    if (data.screen_width !== void 0) {
      let data18 = data.screen_width;
      if (!(typeof data18 == "number" && (!(data18 % 1) && !isNaN(data18)) && isFinite(data18)) && data18 !== null) {
        const err34 = { instancePath: instancePath + "/screen_width", schemaPath: "#/properties/screen_width/type", keyword: "type", params: { type: schema122.properties.screen_width.type } };
        if (vErrors === null) {
          vErrors = [err34];
        } else {
          vErrors.push(err34);
        }
        errors++;
      }
      if (typeof data18 == "number" && isFinite(data18)) {
        if (data18 > 65535 || isNaN(data18)) {
          const err35 = { instancePath: instancePath + "/screen_width", schemaPath: "#/properties/screen_width/maximum", keyword: "maximum", params: { comparison: "<=", limit: 65535 } };
          if (vErrors === null) {
            vErrors = [err35];
          } else {
            vErrors.push(err35);
          }
          errors++;
        }
        if (data18 < 0 || isNaN(data18)) {
          const err36 = { instancePath: instancePath + "/screen_width", schemaPath: "#/properties/screen_width/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } };
          if (vErrors === null) {
            vErrors = [err36];
          } else {
            vErrors.push(err36);
          }
          errors++;
        }
      }
    }
    if (data.language !== void 0) {
      let data19 = data.language;
      if (typeof data19 !== "string" && data19 !== null) {
        const err37 = { instancePath: instancePath + "/language", schemaPath: "#/properties/language/type", keyword: "type", params: { type: schema122.properties.language.type } };
        if (vErrors === null) {
          vErrors = [err37];
        } else {
          vErrors.push(err37);
        }
        errors++;
      }
      if (typeof data19 === "string") {
        if (func2(data19) > 64) {
          const err38 = { instancePath: instancePath + "/language", schemaPath: "#/properties/language/maxLength", keyword: "maxLength", params: { limit: 64 } };
          if (vErrors === null) {
            vErrors = [err38];
          } else {
            vErrors.push(err38);
          }
          errors++;
        }
      }
    }
    if (data.timezone !== void 0) {
      let data20 = data.timezone;
      if (typeof data20 !== "string" && data20 !== null) {
        const err39 = { instancePath: instancePath + "/timezone", schemaPath: "#/properties/timezone/type", keyword: "type", params: { type: schema122.properties.timezone.type } };
        if (vErrors === null) {
          vErrors = [err39];
        } else {
          vErrors.push(err39);
        }
        errors++;
      }
      if (typeof data20 === "string") {
        if (func2(data20) > 64) {
          const err40 = { instancePath: instancePath + "/timezone", schemaPath: "#/properties/timezone/maxLength", keyword: "maxLength", params: { limit: 64 } };
          if (vErrors === null) {
            vErrors = [err40];
          } else {
            vErrors.push(err40);
          }
          errors++;
        }
      }
    }
    if (data.user_agent !== void 0) {
      let data21 = data.user_agent;
      if (typeof data21 !== "string" && data21 !== null) {
        const err41 = { instancePath: instancePath + "/user_agent", schemaPath: "#/properties/user_agent/type", keyword: "type", params: { type: schema122.properties.user_agent.type } };
        if (vErrors === null) {
          vErrors = [err41];
        } else {
          vErrors.push(err41);
        }
        errors++;
      }
      if (typeof data21 === "string") {
        if (func2(data21) > 1024) {
          const err42 = { instancePath: instancePath + "/user_agent", schemaPath: "#/properties/user_agent/maxLength", keyword: "maxLength", params: { limit: 1024 } };
          if (vErrors === null) {
            vErrors = [err42];
          } else {
            vErrors.push(err42);
          }
          errors++;
        }
      }
    }
    if (data.ip !== void 0) {
      let data22 = data.ip;
      if (typeof data22 !== "string" && data22 !== null) {
        const err43 = { instancePath: instancePath + "/ip", schemaPath: "#/properties/ip/type", keyword: "type", params: { type: schema122.properties.ip.type } };
        if (vErrors === null) {
          vErrors = [err43];
        } else {
          vErrors.push(err43);
        }
        errors++;
      }
      if (typeof data22 === "string") {
        if (func2(data22) > 64) {
          const err44 = { instancePath: instancePath + "/ip", schemaPath: "#/properties/ip/maxLength", keyword: "maxLength", params: { limit: 64 } };
          if (vErrors === null) {
            vErrors = [err44];
          } else {
            vErrors.push(err44);
          }
          errors++;
        }
      }
    }
    if (data.value_cents !== void 0) {
      const err45 = { instancePath: instancePath + "/value_cents", schemaPath: "#/properties/value_cents/not", keyword: "not", params: {} };
      if (vErrors === null) {
        vErrors = [err45];
      } else {
        vErrors.push(err45);
      }
      errors++;
    }
  } else {
    const err46 = { instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } };
    if (vErrors === null) {
      vErrors = [err46];
    } else {
      vErrors.push(err46);
    }
    errors++;
  }
  validate112.errors = vErrors;
  return errors === 0;
}
var batch2 = validate122;
function validate122(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null;
  let errors = 0;
  if (data && typeof data == "object" && !Array.isArray(data)) {
    if (data.events === void 0) {
      const err0 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "events" } };
      if (vErrors === null) {
        vErrors = [err0];
      } else {
        vErrors.push(err0);
      }
      errors++;
    }
    if (data.events !== void 0) {
      let data0 = data.events;
      if (Array.isArray(data0)) {
        if (data0.length > 1e3) {
          const err1 = { instancePath: instancePath + "/events", schemaPath: "#/properties/events/maxItems", keyword: "maxItems", params: { limit: 1e3 } };
          if (vErrors === null) {
            vErrors = [err1];
          } else {
            vErrors.push(err1);
          }
          errors++;
        }
      } else {
        const err2 = { instancePath: instancePath + "/events", schemaPath: "#/properties/events/type", keyword: "type", params: { type: "array" } };
        if (vErrors === null) {
          vErrors = [err2];
        } else {
          vErrors.push(err2);
        }
        errors++;
      }
    }
    if (data.value_cents !== void 0) {
      const err3 = { instancePath: instancePath + "/value_cents", schemaPath: "#/properties/value_cents/not", keyword: "not", params: {} };
      if (vErrors === null) {
        vErrors = [err3];
      } else {
        vErrors.push(err3);
      }
      errors++;
    }
  } else {
    const err4 = { instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } };
    if (vErrors === null) {
      vErrors = [err4];
    } else {
      vErrors.push(err4);
    }
    errors++;
  }
  validate122.errors = vErrors;
  return errors === 0;
}
var visit2 = validate132;
var schema142 = { "type": "object", "properties": { "url": { "type": "string", "minLength": 1, "maxLength": 2048 }, "method": { "type": ["string", "null"], "maxLength": 16 }, "user_agent": { "type": "string", "maxLength": 1024 }, "ip": { "type": ["string", "null"], "maxLength": 64 }, "status_code": { "type": ["integer", "null"], "minimum": 100, "maximum": 599 }, "referrer": { "type": ["string", "null"], "maxLength": 2048 }, "response_ms": { "type": ["number", "null"], "minimum": 0, "maximum": 4294967295 }, "occurred_at": { "type": ["string", "null"] }, "client_event_id": { "type": ["string", "null"], "maxLength": 254 } }, "required": ["url", "user_agent"] };
function validate132(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null;
  let errors = 0;
  if (data && typeof data == "object" && !Array.isArray(data)) {
    if (data.url === void 0) {
      const err0 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "url" } };
      if (vErrors === null) {
        vErrors = [err0];
      } else {
        vErrors.push(err0);
      }
      errors++;
    }
    if (data.user_agent === void 0) {
      const err1 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "user_agent" } };
      if (vErrors === null) {
        vErrors = [err1];
      } else {
        vErrors.push(err1);
      }
      errors++;
    }
    if (data.url !== void 0) {
      let data0 = data.url;
      if (typeof data0 === "string") {
        if (func2(data0) > 2048) {
          const err2 = { instancePath: instancePath + "/url", schemaPath: "#/properties/url/maxLength", keyword: "maxLength", params: { limit: 2048 } };
          if (vErrors === null) {
            vErrors = [err2];
          } else {
            vErrors.push(err2);
          }
          errors++;
        }
        if (func2(data0) < 1) {
          const err3 = { instancePath: instancePath + "/url", schemaPath: "#/properties/url/minLength", keyword: "minLength", params: { limit: 1 } };
          if (vErrors === null) {
            vErrors = [err3];
          } else {
            vErrors.push(err3);
          }
          errors++;
        }
      } else {
        const err4 = { instancePath: instancePath + "/url", schemaPath: "#/properties/url/type", keyword: "type", params: { type: "string" } };
        if (vErrors === null) {
          vErrors = [err4];
        } else {
          vErrors.push(err4);
        }
        errors++;
      }
    }
    if (data.method !== void 0) {
      let data1 = data.method;
      if (typeof data1 !== "string" && data1 !== null) {
        const err5 = { instancePath: instancePath + "/method", schemaPath: "#/properties/method/type", keyword: "type", params: { type: schema142.properties.method.type } };
        if (vErrors === null) {
          vErrors = [err5];
        } else {
          vErrors.push(err5);
        }
        errors++;
      }
      if (typeof data1 === "string") {
        if (func2(data1) > 16) {
          const err6 = { instancePath: instancePath + "/method", schemaPath: "#/properties/method/maxLength", keyword: "maxLength", params: { limit: 16 } };
          if (vErrors === null) {
            vErrors = [err6];
          } else {
            vErrors.push(err6);
          }
          errors++;
        }
      }
    }
    if (data.user_agent !== void 0) {
      let data2 = data.user_agent;
      if (typeof data2 === "string") {
        if (func2(data2) > 1024) {
          const err7 = { instancePath: instancePath + "/user_agent", schemaPath: "#/properties/user_agent/maxLength", keyword: "maxLength", params: { limit: 1024 } };
          if (vErrors === null) {
            vErrors = [err7];
          } else {
            vErrors.push(err7);
          }
          errors++;
        }
      } else {
        const err8 = { instancePath: instancePath + "/user_agent", schemaPath: "#/properties/user_agent/type", keyword: "type", params: { type: "string" } };
        if (vErrors === null) {
          vErrors = [err8];
        } else {
          vErrors.push(err8);
        }
        errors++;
      }
    }
    if (data.ip !== void 0) {
      let data3 = data.ip;
      if (typeof data3 !== "string" && data3 !== null) {
        const err9 = { instancePath: instancePath + "/ip", schemaPath: "#/properties/ip/type", keyword: "type", params: { type: schema142.properties.ip.type } };
        if (vErrors === null) {
          vErrors = [err9];
        } else {
          vErrors.push(err9);
        }
        errors++;
      }
      if (typeof data3 === "string") {
        if (func2(data3) > 64) {
          const err10 = { instancePath: instancePath + "/ip", schemaPath: "#/properties/ip/maxLength", keyword: "maxLength", params: { limit: 64 } };
          if (vErrors === null) {
            vErrors = [err10];
          } else {
            vErrors.push(err10);
          }
          errors++;
        }
      }
    }
    if (data.status_code !== void 0) {
      let data4 = data.status_code;
      if (!(typeof data4 == "number" && (!(data4 % 1) && !isNaN(data4)) && isFinite(data4)) && data4 !== null) {
        const err11 = { instancePath: instancePath + "/status_code", schemaPath: "#/properties/status_code/type", keyword: "type", params: { type: schema142.properties.status_code.type } };
        if (vErrors === null) {
          vErrors = [err11];
        } else {
          vErrors.push(err11);
        }
        errors++;
      }
      if (typeof data4 == "number" && isFinite(data4)) {
        if (data4 > 599 || isNaN(data4)) {
          const err12 = { instancePath: instancePath + "/status_code", schemaPath: "#/properties/status_code/maximum", keyword: "maximum", params: { comparison: "<=", limit: 599 } };
          if (vErrors === null) {
            vErrors = [err12];
          } else {
            vErrors.push(err12);
          }
          errors++;
        }
        if (data4 < 100 || isNaN(data4)) {
          const err13 = { instancePath: instancePath + "/status_code", schemaPath: "#/properties/status_code/minimum", keyword: "minimum", params: { comparison: ">=", limit: 100 } };
          if (vErrors === null) {
            vErrors = [err13];
          } else {
            vErrors.push(err13);
          }
          errors++;
        }
      }
    }
    if (data.referrer !== void 0) {
      let data5 = data.referrer;
      if (typeof data5 !== "string" && data5 !== null) {
        const err14 = { instancePath: instancePath + "/referrer", schemaPath: "#/properties/referrer/type", keyword: "type", params: { type: schema142.properties.referrer.type } };
        if (vErrors === null) {
          vErrors = [err14];
        } else {
          vErrors.push(err14);
        }
        errors++;
      }
      if (typeof data5 === "string") {
        if (func2(data5) > 2048) {
          const err15 = { instancePath: instancePath + "/referrer", schemaPath: "#/properties/referrer/maxLength", keyword: "maxLength", params: { limit: 2048 } };
          if (vErrors === null) {
            vErrors = [err15];
          } else {
            vErrors.push(err15);
          }
          errors++;
        }
      }
    }
    if (data.response_ms !== void 0) {
      let data6 = data.response_ms;
      if (!(typeof data6 == "number" && isFinite(data6)) && data6 !== null) {
        const err16 = { instancePath: instancePath + "/response_ms", schemaPath: "#/properties/response_ms/type", keyword: "type", params: { type: schema142.properties.response_ms.type } };
        if (vErrors === null) {
          vErrors = [err16];
        } else {
          vErrors.push(err16);
        }
        errors++;
      }
      if (typeof data6 == "number" && isFinite(data6)) {
        if (data6 > 4294967295 || isNaN(data6)) {
          const err17 = { instancePath: instancePath + "/response_ms", schemaPath: "#/properties/response_ms/maximum", keyword: "maximum", params: { comparison: "<=", limit: 4294967295 } };
          if (vErrors === null) {
            vErrors = [err17];
          } else {
            vErrors.push(err17);
          }
          errors++;
        }
        if (data6 < 0 || isNaN(data6)) {
          const err18 = { instancePath: instancePath + "/response_ms", schemaPath: "#/properties/response_ms/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } };
          if (vErrors === null) {
            vErrors = [err18];
          } else {
            vErrors.push(err18);
          }
          errors++;
        }
      }
    }
    if (data.occurred_at !== void 0) {
      let data7 = data.occurred_at;
      if (typeof data7 !== "string" && data7 !== null) {
        const err19 = { instancePath: instancePath + "/occurred_at", schemaPath: "#/properties/occurred_at/type", keyword: "type", params: { type: schema142.properties.occurred_at.type } };
        if (vErrors === null) {
          vErrors = [err19];
        } else {
          vErrors.push(err19);
        }
        errors++;
      }
    }
    if (data.client_event_id !== void 0) {
      let data8 = data.client_event_id;
      if (typeof data8 !== "string" && data8 !== null) {
        const err20 = { instancePath: instancePath + "/client_event_id", schemaPath: "#/properties/client_event_id/type", keyword: "type", params: { type: schema142.properties.client_event_id.type } };
        if (vErrors === null) {
          vErrors = [err20];
        } else {
          vErrors.push(err20);
        }
        errors++;
      }
      if (typeof data8 === "string") {
        if (func2(data8) > 254) {
          const err21 = { instancePath: instancePath + "/client_event_id", schemaPath: "#/properties/client_event_id/maxLength", keyword: "maxLength", params: { limit: 254 } };
          if (vErrors === null) {
            vErrors = [err21];
          } else {
            vErrors.push(err21);
          }
          errors++;
        }
      }
    }
  } else {
    const err22 = { instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } };
    if (vErrors === null) {
      vErrors = [err22];
    } else {
      vErrors.push(err22);
    }
    errors++;
  }
  validate132.errors = vErrors;
  return errors === 0;
}
var replay2 = validate142;
var schema152 = { "type": "object", "properties": { "anonymous_id": { "type": "string", "minLength": 1, "maxLength": 254 }, "session_id": { "type": "string", "minLength": 1, "maxLength": 254 }, "page_id": { "type": "string", "minLength": 1, "maxLength": 64 }, "sequence": { "type": "integer", "minimum": 0, "maximum": 5e3 }, "url": { "type": ["string", "null"], "maxLength": 2048 }, "timezone": { "type": ["string", "null"], "maxLength": 64 }, "sent_at": { "type": ["string", "null"] }, "events": { "type": "string", "minLength": 1 } }, "required": ["anonymous_id", "session_id", "page_id", "sequence", "events"] };
function validate142(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null;
  let errors = 0;
  if (data && typeof data == "object" && !Array.isArray(data)) {
    if (data.anonymous_id === void 0) {
      const err0 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "anonymous_id" } };
      if (vErrors === null) {
        vErrors = [err0];
      } else {
        vErrors.push(err0);
      }
      errors++;
    }
    if (data.session_id === void 0) {
      const err1 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "session_id" } };
      if (vErrors === null) {
        vErrors = [err1];
      } else {
        vErrors.push(err1);
      }
      errors++;
    }
    if (data.page_id === void 0) {
      const err2 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "page_id" } };
      if (vErrors === null) {
        vErrors = [err2];
      } else {
        vErrors.push(err2);
      }
      errors++;
    }
    if (data.sequence === void 0) {
      const err3 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "sequence" } };
      if (vErrors === null) {
        vErrors = [err3];
      } else {
        vErrors.push(err3);
      }
      errors++;
    }
    if (data.events === void 0) {
      const err4 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "events" } };
      if (vErrors === null) {
        vErrors = [err4];
      } else {
        vErrors.push(err4);
      }
      errors++;
    }
    if (data.anonymous_id !== void 0) {
      let data0 = data.anonymous_id;
      if (typeof data0 === "string") {
        if (func2(data0) > 254) {
          const err5 = { instancePath: instancePath + "/anonymous_id", schemaPath: "#/properties/anonymous_id/maxLength", keyword: "maxLength", params: { limit: 254 } };
          if (vErrors === null) {
            vErrors = [err5];
          } else {
            vErrors.push(err5);
          }
          errors++;
        }
        if (func2(data0) < 1) {
          const err6 = { instancePath: instancePath + "/anonymous_id", schemaPath: "#/properties/anonymous_id/minLength", keyword: "minLength", params: { limit: 1 } };
          if (vErrors === null) {
            vErrors = [err6];
          } else {
            vErrors.push(err6);
          }
          errors++;
        }
      } else {
        const err7 = { instancePath: instancePath + "/anonymous_id", schemaPath: "#/properties/anonymous_id/type", keyword: "type", params: { type: "string" } };
        if (vErrors === null) {
          vErrors = [err7];
        } else {
          vErrors.push(err7);
        }
        errors++;
      }
    }
    if (data.session_id !== void 0) {
      let data1 = data.session_id;
      if (typeof data1 === "string") {
        if (func2(data1) > 254) {
          const err8 = { instancePath: instancePath + "/session_id", schemaPath: "#/properties/session_id/maxLength", keyword: "maxLength", params: { limit: 254 } };
          if (vErrors === null) {
            vErrors = [err8];
          } else {
            vErrors.push(err8);
          }
          errors++;
        }
        if (func2(data1) < 1) {
          const err9 = { instancePath: instancePath + "/session_id", schemaPath: "#/properties/session_id/minLength", keyword: "minLength", params: { limit: 1 } };
          if (vErrors === null) {
            vErrors = [err9];
          } else {
            vErrors.push(err9);
          }
          errors++;
        }
      } else {
        const err10 = { instancePath: instancePath + "/session_id", schemaPath: "#/properties/session_id/type", keyword: "type", params: { type: "string" } };
        if (vErrors === null) {
          vErrors = [err10];
        } else {
          vErrors.push(err10);
        }
        errors++;
      }
    }
    if (data.page_id !== void 0) {
      let data2 = data.page_id;
      if (typeof data2 === "string") {
        if (func2(data2) > 64) {
          const err11 = { instancePath: instancePath + "/page_id", schemaPath: "#/properties/page_id/maxLength", keyword: "maxLength", params: { limit: 64 } };
          if (vErrors === null) {
            vErrors = [err11];
          } else {
            vErrors.push(err11);
          }
          errors++;
        }
        if (func2(data2) < 1) {
          const err12 = { instancePath: instancePath + "/page_id", schemaPath: "#/properties/page_id/minLength", keyword: "minLength", params: { limit: 1 } };
          if (vErrors === null) {
            vErrors = [err12];
          } else {
            vErrors.push(err12);
          }
          errors++;
        }
      } else {
        const err13 = { instancePath: instancePath + "/page_id", schemaPath: "#/properties/page_id/type", keyword: "type", params: { type: "string" } };
        if (vErrors === null) {
          vErrors = [err13];
        } else {
          vErrors.push(err13);
        }
        errors++;
      }
    }
    if (data.sequence !== void 0) {
      let data3 = data.sequence;
      if (!(typeof data3 == "number" && (!(data3 % 1) && !isNaN(data3)) && isFinite(data3))) {
        const err14 = { instancePath: instancePath + "/sequence", schemaPath: "#/properties/sequence/type", keyword: "type", params: { type: "integer" } };
        if (vErrors === null) {
          vErrors = [err14];
        } else {
          vErrors.push(err14);
        }
        errors++;
      }
      if (typeof data3 == "number" && isFinite(data3)) {
        if (data3 > 5e3 || isNaN(data3)) {
          const err15 = { instancePath: instancePath + "/sequence", schemaPath: "#/properties/sequence/maximum", keyword: "maximum", params: { comparison: "<=", limit: 5e3 } };
          if (vErrors === null) {
            vErrors = [err15];
          } else {
            vErrors.push(err15);
          }
          errors++;
        }
        if (data3 < 0 || isNaN(data3)) {
          const err16 = { instancePath: instancePath + "/sequence", schemaPath: "#/properties/sequence/minimum", keyword: "minimum", params: { comparison: ">=", limit: 0 } };
          if (vErrors === null) {
            vErrors = [err16];
          } else {
            vErrors.push(err16);
          }
          errors++;
        }
      }
    }
    if (data.url !== void 0) {
      let data4 = data.url;
      if (typeof data4 !== "string" && data4 !== null) {
        const err17 = { instancePath: instancePath + "/url", schemaPath: "#/properties/url/type", keyword: "type", params: { type: schema152.properties.url.type } };
        if (vErrors === null) {
          vErrors = [err17];
        } else {
          vErrors.push(err17);
        }
        errors++;
      }
      if (typeof data4 === "string") {
        if (func2(data4) > 2048) {
          const err18 = { instancePath: instancePath + "/url", schemaPath: "#/properties/url/maxLength", keyword: "maxLength", params: { limit: 2048 } };
          if (vErrors === null) {
            vErrors = [err18];
          } else {
            vErrors.push(err18);
          }
          errors++;
        }
      }
    }
    if (data.timezone !== void 0) {
      let data5 = data.timezone;
      if (typeof data5 !== "string" && data5 !== null) {
        const err19 = { instancePath: instancePath + "/timezone", schemaPath: "#/properties/timezone/type", keyword: "type", params: { type: schema152.properties.timezone.type } };
        if (vErrors === null) {
          vErrors = [err19];
        } else {
          vErrors.push(err19);
        }
        errors++;
      }
      if (typeof data5 === "string") {
        if (func2(data5) > 64) {
          const err20 = { instancePath: instancePath + "/timezone", schemaPath: "#/properties/timezone/maxLength", keyword: "maxLength", params: { limit: 64 } };
          if (vErrors === null) {
            vErrors = [err20];
          } else {
            vErrors.push(err20);
          }
          errors++;
        }
      }
    }
    if (data.sent_at !== void 0) {
      let data6 = data.sent_at;
      if (typeof data6 !== "string" && data6 !== null) {
        const err21 = { instancePath: instancePath + "/sent_at", schemaPath: "#/properties/sent_at/type", keyword: "type", params: { type: schema152.properties.sent_at.type } };
        if (vErrors === null) {
          vErrors = [err21];
        } else {
          vErrors.push(err21);
        }
        errors++;
      }
    }
    if (data.events !== void 0) {
      let data7 = data.events;
      if (typeof data7 === "string") {
        if (func2(data7) < 1) {
          const err22 = { instancePath: instancePath + "/events", schemaPath: "#/properties/events/minLength", keyword: "minLength", params: { limit: 1 } };
          if (vErrors === null) {
            vErrors = [err22];
          } else {
            vErrors.push(err22);
          }
          errors++;
        }
      } else {
        const err23 = { instancePath: instancePath + "/events", schemaPath: "#/properties/events/type", keyword: "type", params: { type: "string" } };
        if (vErrors === null) {
          vErrors = [err23];
        } else {
          vErrors.push(err23);
        }
        errors++;
      }
    }
  } else {
    const err24 = { instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } };
    if (vErrors === null) {
      vErrors = [err24];
    } else {
      vErrors.push(err24);
    }
    errors++;
  }
  validate142.errors = vErrors;
  return errors === 0;
}
var visits2 = validate152;
function validate152(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null;
  let errors = 0;
  if (data && typeof data == "object" && !Array.isArray(data)) {
    if (data.visits === void 0) {
      const err0 = { instancePath, schemaPath: "#/required", keyword: "required", params: { missingProperty: "visits" } };
      if (vErrors === null) {
        vErrors = [err0];
      } else {
        vErrors.push(err0);
      }
      errors++;
    }
    if (data.visits !== void 0) {
      let data0 = data.visits;
      if (Array.isArray(data0)) {
        if (data0.length > 1e3) {
          const err1 = { instancePath: instancePath + "/visits", schemaPath: "#/properties/visits/maxItems", keyword: "maxItems", params: { limit: 1e3 } };
          if (vErrors === null) {
            vErrors = [err1];
          } else {
            vErrors.push(err1);
          }
          errors++;
        }
      } else {
        const err2 = { instancePath: instancePath + "/visits", schemaPath: "#/properties/visits/type", keyword: "type", params: { type: "array" } };
        if (vErrors === null) {
          vErrors = [err2];
        } else {
          vErrors.push(err2);
        }
        errors++;
      }
    }
  } else {
    const err3 = { instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" } };
    if (vErrors === null) {
      vErrors = [err3];
    } else {
      vErrors.push(err3);
    }
    errors++;
  }
  validate152.errors = vErrors;
  return errors === 0;
}
export {
  exact_exports as exact,
  fast_exports as fast
};
