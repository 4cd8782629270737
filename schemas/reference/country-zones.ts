/**
 * Countries by ISO 3166-1 alpha-2 code, and the time zones that lie in each, under present and former names.
 *
 * Source: `zone.tab`, `iso3166.tab` and, for former names, `backward` of the tz database, release 2025b, public domain.
 * A former name is in the country of the place that it names. Zones of no place (`UTC`, `EST`) are left out. Held by
 * test/unit/country-zones.test.ts.
 */
const zonesByCountry = `
AD Europe/Andorra; AE Asia/Dubai; AF Asia/Kabul; AG America/Antigua; AI America/Anguilla; AL Europe/Tirane;
AM Asia/Yerevan; AO Africa/Luanda; AQ Antarctica/McMurdo Antarctica/Casey Antarctica/Davis Antarctica/DumontDUrville
Antarctica/Mawson Antarctica/Palmer Antarctica/Rothera Antarctica/Syowa Antarctica/Troll Antarctica/Vostok
Antarctica/South_Pole; AR America/Argentina/Buenos_Aires America/Argentina/Cordoba America/Argentina/Salta
America/Argentina/Jujuy America/Argentina/Tucuman America/Argentina/Catamarca America/Argentina/La_Rioja
America/Argentina/San_Juan America/Argentina/Mendoza America/Argentina/San_Luis America/Argentina/Rio_Gallegos
America/Argentina/Ushuaia America/Buenos_Aires America/Catamarca America/Cordoba America/Jujuy America/Mendoza
America/Argentina/ComodRivadavia America/Rosario; AS Pacific/Pago_Pago US/Samoa Pacific/Samoa; AT Europe/Vienna; AU
Australia/Lord_Howe Antarctica/Macquarie Australia/Hobart Australia/Melbourne Australia/Sydney Australia/Broken_Hill
Australia/Brisbane Australia/Lindeman Australia/Adelaide Australia/Darwin Australia/Perth Australia/Eucla
Australia/ACT Australia/LHI Australia/NSW Australia/North Australia/Queensland Australia/South Australia/Tasmania
Australia/Victoria Australia/West Australia/Yancowinna Australia/Canberra Australia/Currie; AW America/Aruba;
AX Europe/Mariehamn; AZ Asia/Baku; BA Europe/Sarajevo; BB America/Barbados; BD Asia/Dhaka Asia/Dacca;
BE Europe/Brussels; BF Africa/Ouagadougou; BG Europe/Sofia; BH Asia/Bahrain; BI Africa/Bujumbura;
BJ Africa/Porto-Novo; BL America/St_Barthelemy; BM Atlantic/Bermuda; BN Asia/Brunei; BO America/La_Paz;
BQ America/Kralendijk; BR America/Noronha America/Belem America/Fortaleza America/Recife America/Araguaina
America/Maceio America/Bahia America/Sao_Paulo America/Campo_Grande America/Cuiaba America/Santarem
America/Porto_Velho America/Boa_Vista America/Manaus America/Eirunepe America/Rio_Branco Brazil/Acre Brazil/DeNoronha
Brazil/East Brazil/West America/Porto_Acre; BS America/Nassau; BT Asia/Thimphu Asia/Thimbu; BV; BW Africa/Gaborone;
BY Europe/Minsk; BZ America/Belize; CA America/St_Johns America/Halifax America/Glace_Bay America/Moncton
America/Goose_Bay America/Blanc-Sablon America/Toronto America/Iqaluit America/Atikokan America/Winnipeg
America/Resolute America/Rankin_Inlet America/Regina America/Swift_Current America/Edmonton America/Cambridge_Bay
America/Inuvik America/Creston America/Dawson_Creek America/Fort_Nelson America/Whitehorse America/Dawson
America/Vancouver Canada/Atlantic Canada/Central Canada/Eastern Canada/Mountain Canada/Newfoundland Canada/Pacific
Canada/Saskatchewan Canada/Yukon America/Montreal America/Nipigon America/Pangnirtung America/Rainy_River
America/Thunder_Bay America/Yellowknife America/Coral_Harbour; CC Indian/Cocos; CD Africa/Kinshasa Africa/Lubumbashi;
CF Africa/Bangui; CG Africa/Brazzaville; CH Europe/Zurich; CI Africa/Abidjan; CK Pacific/Rarotonga;
CL America/Santiago America/Coyhaique America/Punta_Arenas Pacific/Easter Chile/Continental Chile/EasterIsland;
CM Africa/Douala; CN Asia/Shanghai Asia/Urumqi PRC Asia/Chongqing Asia/Harbin Asia/Kashgar Asia/Chungking;
CO America/Bogota; CR America/Costa_Rica; CU America/Havana Cuba; CV Atlantic/Cape_Verde; CW America/Curacao;
CX Indian/Christmas; CY Asia/Nicosia Asia/Famagusta Europe/Nicosia; CZ Europe/Prague;
DE Europe/Berlin Europe/Busingen; DJ Africa/Djibouti; DK Europe/Copenhagen; DM America/Dominica;
DO America/Santo_Domingo; DZ Africa/Algiers; EC America/Guayaquil Pacific/Galapagos; EE Europe/Tallinn;
EG Africa/Cairo Egypt; EH Africa/El_Aaiun; ER Africa/Asmara Africa/Asmera;
ES Europe/Madrid Africa/Ceuta Atlantic/Canary; ET Africa/Addis_Ababa; FI Europe/Helsinki; FJ Pacific/Fiji;
FK Atlantic/Stanley; FM Pacific/Chuuk Pacific/Pohnpei Pacific/Kosrae Pacific/Truk Pacific/Yap Pacific/Ponape;
FO Atlantic/Faroe Atlantic/Faeroe; FR Europe/Paris; GA Africa/Libreville; GB Europe/London GB GB-Eire Europe/Belfast;
GD America/Grenada; GE Asia/Tbilisi; GF America/Cayenne; GG Europe/Guernsey; GH Africa/Accra; GI Europe/Gibraltar;
GL America/Nuuk America/Danmarkshavn America/Scoresbysund America/Thule America/Godthab; GM Africa/Banjul;
GN Africa/Conakry; GP America/Guadeloupe; GQ Africa/Malabo; GR Europe/Athens; GS Atlantic/South_Georgia;
GT America/Guatemala; GU Pacific/Guam; GW Africa/Bissau; GY America/Guyana; HK Asia/Hong_Kong Hongkong; HM;
HN America/Tegucigalpa; HR Europe/Zagreb; HT America/Port-au-Prince; HU Europe/Budapest;
ID Asia/Jakarta Asia/Pontianak Asia/Makassar Asia/Jayapura Asia/Ujung_Pandang; IE Europe/Dublin Eire;
IL Asia/Jerusalem Israel Asia/Tel_Aviv; IM Europe/Isle_of_Man; IN Asia/Kolkata Asia/Calcutta; IO Indian/Chagos;
IQ Asia/Baghdad; IR Asia/Tehran Iran; IS Atlantic/Reykjavik Iceland; IT Europe/Rome; JE Europe/Jersey;
JM America/Jamaica Jamaica; JO Asia/Amman; JP Asia/Tokyo Japan; KE Africa/Nairobi; KG Asia/Bishkek;
KH Asia/Phnom_Penh; KI Pacific/Tarawa Pacific/Kanton Pacific/Kiritimati Pacific/Enderbury; KM Indian/Comoro;
KN America/St_Kitts; KP Asia/Pyongyang; KR Asia/Seoul ROK; KW Asia/Kuwait; KY America/Cayman;
KZ Asia/Almaty Asia/Qyzylorda Asia/Qostanay Asia/Aqtobe Asia/Aqtau Asia/Atyrau Asia/Oral; LA Asia/Vientiane;
LB Asia/Beirut; LC America/St_Lucia; LI Europe/Vaduz; LK Asia/Colombo; LR Africa/Monrovia; LS Africa/Maseru;
LT Europe/Vilnius; LU Europe/Luxembourg; LV Europe/Riga; LY Africa/Tripoli Libya; MA Africa/Casablanca;
MC Europe/Monaco; MD Europe/Chisinau Europe/Tiraspol; ME Europe/Podgorica; MF America/Marigot; MG Indian/Antananarivo;
MH Pacific/Majuro Pacific/Kwajalein Kwajalein; MK Europe/Skopje; ML Africa/Bamako Africa/Timbuktu;
MM Asia/Yangon Asia/Rangoon; MN Asia/Ulaanbaatar Asia/Hovd Asia/Choibalsan Asia/Ulan_Bator; MO Asia/Macau Asia/Macao;
MP Pacific/Saipan; MQ America/Martinique; MR Africa/Nouakchott; MS America/Montserrat; MT Europe/Malta;
MU Indian/Mauritius; MV Indian/Maldives; MW Africa/Blantyre; MX America/Mexico_City America/Cancun America/Merida
America/Monterrey America/Matamoros America/Chihuahua America/Ciudad_Juarez America/Ojinaga America/Mazatlan
America/Bahia_Banderas America/Hermosillo America/Tijuana Mexico/BajaNorte Mexico/BajaSur Mexico/General
America/Ensenada America/Santa_Isabel; MY Asia/Kuala_Lumpur Asia/Kuching; MZ Africa/Maputo; NA Africa/Windhoek;
NC Pacific/Noumea; NE Africa/Niamey; NF Pacific/Norfolk; NG Africa/Lagos; NI America/Managua; NL Europe/Amsterdam;
NO Europe/Oslo; NP Asia/Kathmandu Asia/Katmandu; NR Pacific/Nauru; NU Pacific/Niue;
NZ Pacific/Auckland Pacific/Chatham NZ NZ-CHAT; OM Asia/Muscat; PA America/Panama; PE America/Lima;
PF Pacific/Tahiti Pacific/Marquesas Pacific/Gambier; PG Pacific/Port_Moresby Pacific/Bougainville; PH Asia/Manila;
PK Asia/Karachi; PL Europe/Warsaw Poland; PM America/Miquelon; PN Pacific/Pitcairn; PR America/Puerto_Rico;
PS Asia/Gaza Asia/Hebron; PT Europe/Lisbon Atlantic/Madeira Atlantic/Azores Portugal; PW Pacific/Palau;
PY America/Asuncion; QA Asia/Qatar; RE Indian/Reunion; RO Europe/Bucharest; RS Europe/Belgrade; RU Europe/Kaliningrad
Europe/Moscow Europe/Kirov Europe/Volgograd Europe/Astrakhan Europe/Saratov Europe/Ulyanovsk Europe/Samara
Asia/Yekaterinburg Asia/Omsk Asia/Novosibirsk Asia/Barnaul Asia/Tomsk Asia/Novokuznetsk Asia/Krasnoyarsk Asia/Irkutsk
Asia/Chita Asia/Yakutsk Asia/Khandyga Asia/Vladivostok Asia/Ust-Nera Asia/Magadan Asia/Sakhalin Asia/Srednekolymsk
Asia/Kamchatka Asia/Anadyr W-SU; RW Africa/Kigali; SA Asia/Riyadh; SB Pacific/Guadalcanal; SC Indian/Mahe;
SD Africa/Khartoum; SE Europe/Stockholm; SG Asia/Singapore Singapore; SH Atlantic/St_Helena; SI Europe/Ljubljana;
SJ Arctic/Longyearbyen Atlantic/Jan_Mayen; SK Europe/Bratislava; SL Africa/Freetown; SM Europe/San_Marino;
SN Africa/Dakar; SO Africa/Mogadishu; SR America/Paramaribo; SS Africa/Juba; ST Africa/Sao_Tome;
SV America/El_Salvador; SX America/Lower_Princes; SY Asia/Damascus; SZ Africa/Mbabane; TC America/Grand_Turk;
TD Africa/Ndjamena; TF Indian/Kerguelen; TG Africa/Lome; TH Asia/Bangkok; TJ Asia/Dushanbe; TK Pacific/Fakaofo;
TL Asia/Dili; TM Asia/Ashgabat Asia/Ashkhabad; TN Africa/Tunis; TO Pacific/Tongatapu;
TR Europe/Istanbul Turkey Asia/Istanbul; TT America/Port_of_Spain; TV Pacific/Funafuti; TW Asia/Taipei ROC;
TZ Africa/Dar_es_Salaam; UA Europe/Simferopol Europe/Kyiv Europe/Uzhgorod Europe/Zaporozhye Europe/Kiev;
UG Africa/Kampala; UM Pacific/Midway Pacific/Wake Pacific/Johnston; US America/New_York America/Detroit
America/Kentucky/Louisville America/Kentucky/Monticello America/Indiana/Indianapolis America/Indiana/Vincennes
America/Indiana/Winamac America/Indiana/Marengo America/Indiana/Petersburg America/Indiana/Vevay America/Chicago
America/Indiana/Tell_City America/Indiana/Knox America/Menominee America/North_Dakota/Center
America/North_Dakota/New_Salem America/North_Dakota/Beulah America/Denver America/Boise America/Phoenix
America/Los_Angeles America/Anchorage America/Juneau America/Sitka America/Metlakatla America/Yakutat America/Nome
America/Adak Pacific/Honolulu Navajo US/Alaska US/Aleutian US/Arizona US/Central US/East-Indiana US/Eastern US/Hawaii
US/Indiana-Starke US/Michigan US/Mountain US/Pacific America/Indianapolis America/Knox_IN America/Louisville
America/Atka America/Fort_Wayne America/Shiprock; UY America/Montevideo; UZ Asia/Samarkand Asia/Tashkent;
VA Europe/Vatican; VC America/St_Vincent; VE America/Caracas; VG America/Tortola; VI America/St_Thomas America/Virgin;
VN Asia/Ho_Chi_Minh Asia/Saigon; VU Pacific/Efate; WF Pacific/Wallis; WS Pacific/Apia; YE Asia/Aden;
YT Indian/Mayotte; ZA Africa/Johannesburg; ZM Africa/Lusaka; ZW Africa/Harare;
`

/** Kosovo has no code of ISO yet; networks and Unicode know it by one that ISO leaves to users. */
const kosovo = 'XK'

const entries = zonesByCountry
  .split(';')
  .map((entry) => entry.trim().split(/\s+/) as [string, ...string[]])
  .filter(([code]) => code !== '')
const codes: ReadonlySet<string> = new Set([...entries.map(([code]) => code), kosovo])
const countries: ReadonlyMap<string, string> = new Map(
  entries.flatMap(([code, ...zones]) => zones.map((zone) => [zone, code] as const)),
)

/** Whether two capital letters are a country's: `EU`, `XX`, `T1` and others that stand for "unknown" are none. */
export function isCountryCode(code: string): boolean {
  return codes.has(code)
}

export function countryCodes(): Iterable<string> {
  return codes.keys()
}

/** By the tz database's release above. */
export function zoneNamesOfPlaces(): Iterable<string> {
  return countries.keys()
}

/** The country of an IANA zone as browsers name it; undefined where it is no place's. */
export function countryOfZone(zone: string): string | undefined {
  return countries.get(zone)
}
