"""What French numbers count: units and currencies. Data only.

Each line: sign, then "one", "many" and, of money, the name of the parts.
"""

UNITS = """
km un kilomètre|kilomètres
m un mètre|mètres
dm un décimètre|décimètres
cm un centimètre|centimètres
mm un millimètre|millimètres
µm un micromètre|micromètres
nm un nanomètre|nanomètres
mi un mile|miles
ft un pied|pieds
in un pouce|pouces
kg un kilogramme|kilogrammes
g un gramme|grammes
mg un milligramme|milligrammes
µg un microgramme|microgrammes
t une tonne|tonnes
lb une livre|livres
oz une once|onces
l un litre|litres
hl un hectolitre|hectolitres
dl un décilitre|décilitres
cl un centilitre|centilitres
ml un millilitre|millilitres
ha un hectare|hectares
h une heure|heures
min une minute|minutes
s une seconde|secondes
ms une milliseconde|millisecondes
µs une microseconde|microsecondes
ns une nanoseconde|nanosecondes
Hz un hertz|hertz
kHz un kilohertz|kilohertz
MHz un mégahertz|mégahertz
GHz un gigahertz|gigahertz
W un watt|watts
kW un kilowatt|kilowatts
MW un mégawatt|mégawatts
GW un gigawatt|gigawatts
Wh un wattheure|wattheures
kWh un kilowattheure|kilowattheures
MWh un mégawattheure|mégawattheures
V un volt|volts
kV un kilovolt|kilovolts
mV un millivolt|millivolts
mA un milliampère|milliampères
mAh un milliampère-heure|milliampères-heures
A un ampère|ampères
Ω un ohm|ohms
kΩ un kiloohm|kiloohms
J un joule|joules
kJ un kilojoule|kilojoules
kcal une kilocalorie|kilocalories
cal une calorie|calories
Pa un pascal|pascals
hPa un hectopascal|hectopascals
kPa un kilopascal|kilopascals
bar un bar|bars
mbar un millibar|millibars
N un newton|newtons
kN un kilonewton|kilonewtons
dB un décibel|décibels
ch un cheval|chevaux
B un octet|octets
KB un kilooctet|kilooctets
MB un mégaoctet|mégaoctets
GB un gigaoctet|gigaoctets
TB un téraoctet|téraoctets
Ko un kilooctet|kilooctets
Mo un mégaoctet|mégaoctets
Go un gigaoctet|gigaoctets
To un téraoctet|téraoctets
bit un bit|bits
Mbit un mégabit|mégabits
Gbit un gigabit|gigabits
MP un mégapixel|mégapixels
px un pixel|pixels
°C un degré Celsius|degrés Celsius
°F un degré Fahrenheit|degrés Fahrenheit
° un degré|degrés
ppm une partie par million|parties par million
"""
CURRENCIES = """
EUR un euro|euros|centimes
$ un dollar|dollars|cents
USD un dollar américain|dollars américains|cents
GBP une livre|livres|pence
JPY un yen|yens|
CNY un yuan|yuans|
CHF un franc suisse|francs suisses|centimes
SEK une couronne suédoise|couronnes suédoises|öre
NOK une couronne norvégienne|couronnes norvégiennes|øre
DKK une couronne danoise|couronnes danoises|øre
ISK une couronne islandaise|couronnes islandaises|
PLN un zloty|zlotys|groszy
CZK une couronne tchèque|couronnes tchèques|
HUF un forint|forints|
RON un leu|lei|bani
BGN un lev|leva|
TRY une livre turque|livres turques|kuruş
RUB un rouble|roubles|kopecks
UAH une hryvnia|hryvnias|kopecks
INR une roupie|roupies|paise
KRW un won|wons|
BRL un réal|réaux|centavos
MXN un peso mexicain|pesos mexicains|centavos
ARS un peso argentin|pesos argentins|centavos
CLP un peso chilien|pesos chiliens|
COP un peso colombien|pesos colombiens|centavos
AUD un dollar australien|dollars australiens|cents
CAD un dollar canadien|dollars canadiens|cents
NZD un dollar néo-zélandais|dollars néo-zélandais|cents
HKD un dollar de Hong Kong|dollars de Hong Kong|cents
SGD un dollar de Singapour|dollars de Singapour|cents
TWD un dollar taïwanais|dollars taïwanais|
ZAR un rand|rands|cents
ILS un shekel|shekels|agorot
AED un dirham|dirhams|fils
SAR un riyal|riyals|halalas
THB un baht|bahts|satangs
IDR une roupie indonésienne|roupies indonésiennes|
PHP un peso philippin|pesos philippins|centavos
VND un dong|dongs|
EGP une livre égyptienne|livres égyptiennes|piastres
NGN un naira|nairas|kobos
BTC un bitcoin|bitcoins|
ETH un ether|ethers|
¢ un cent|cents|
"""
