"""What Italian numbers count: units and currencies. Data only.

Each line: sign, then "one", "many" and, of money, the name of the parts.
"""

UNITS = """
km un chilometro|chilometri
m un metro|metri
dm un decimetro|decimetri
cm un centimetro|centimetri
mm un millimetro|millimetri
µm un micrometro|micrometri
nm un nanometro|nanometri
mi un miglio|miglia
ft un piede|piedi
kg un chilogrammo|chilogrammi
g un grammo|grammi
mg un milligrammo|milligrammi
µg un microgrammo|microgrammi
t una tonnellata|tonnellate
lb una libbra|libbre
oz una oncia|once
l un litro|litri
hl un ettolitro|ettolitri
dl un decilitro|decilitri
cl un centilitro|centilitri
ml un millilitro|millilitri
ha un ettaro|ettari
h un'ora|ore
min un minuto|minuti
s un secondo|secondi
ms un millisecondo|millisecondi
µs un microsecondo|microsecondi
ns un nanosecondo|nanosecondi
Hz un hertz|hertz
kHz un chilohertz|chilohertz
MHz un megahertz|megahertz
GHz un gigahertz|gigahertz
W un watt|watt
kW un chilowatt|chilowatt
MW un megawatt|megawatt
GW un gigawatt|gigawatt
Wh un wattora|wattora
kWh un chilowattora|chilowattora
MWh un megawattora|megawattora
V un volt|volt
kV un chilovolt|chilovolt
mV un millivolt|millivolt
mA un milliampere|milliampere
mAh un milliamperora|milliamperora
A un ampere|ampere
Ω un ohm|ohm
kΩ un chiloohm|chiloohm
J un joule|joule
kJ un chilojoule|chilojoule
kcal una chilocaloria|chilocalorie
cal una caloria|calorie
Pa un pascal|pascal
hPa un ettopascal|ettopascal
kPa un chilopascal|chilopascal
bar un bar|bar
mbar un millibar|millibar
N un newton|newton
kN un chilonewton|chilonewton
dB un decibel|decibel
B un byte|byte
KB un kilobyte|kilobyte
MB un megabyte|megabyte
GB un gigabyte|gigabyte
TB un terabyte|terabyte
bit un bit|bit
Mbit un megabit|megabit
Gbit un gigabit|gigabit
MP un megapixel|megapixel
px un pixel|pixel
°C un grado Celsius|gradi Celsius
°F un grado Fahrenheit|gradi Fahrenheit
° un grado|gradi
ppm una parte per milione|parti per milione
"""
CURRENCIES = """
EUR un euro|euro|centesimi
$ un dollaro|dollari|centesimi
USD un dollaro americano|dollari americani|centesimi
GBP una sterlina|sterline|pence
JPY uno yen|yen|
CNY uno yuan|yuan|
CHF un franco svizzero|franchi svizzeri|centesimi
SEK una corona svedese|corone svedesi|öre
NOK una corona norvegese|corone norvegesi|øre
DKK una corona danese|corone danesi|øre
ISK una corona islandese|corone islandesi|
PLN uno zloty|zloty|groszy
CZK una corona ceca|corone ceche|
HUF un fiorino ungherese|fiorini ungheresi|
RON un leu|lei|bani
BGN un lev|leva|
TRY una lira turca|lire turche|kuruş
RUB un rublo|rubli|copechi
UAH una grivnia|grivnie|copechi
INR una rupia|rupie|paisa
KRW un won|won|
BRL un real|real|centavos
MXN un peso messicano|pesos messicani|centavos
ARS un peso argentino|pesos argentini|centavos
CLP un peso cileno|pesos cileni|
COP un peso colombiano|pesos colombiani|centavos
AUD un dollaro australiano|dollari australiani|centesimi
CAD un dollaro canadese|dollari canadesi|centesimi
NZD un dollaro neozelandese|dollari neozelandesi|centesimi
HKD un dollaro di Hong Kong|dollari di Hong Kong|centesimi
SGD un dollaro di Singapore|dollari di Singapore|centesimi
TWD un dollaro taiwanese|dollari taiwanesi|
ZAR un rand|rand|centesimi
ILS uno shekel|shekel|agorot
AED un dirham|dirham|fils
SAR un riyal|riyal|halala
THB un baht|baht|satang
IDR una rupia indonesiana|rupie indonesiane|
PHP un peso filippino|pesos filippini|centavos
VND un dong|dong|
EGP una sterlina egiziana|sterline egiziane|piastre
NGN una naira|naire|kobo
BTC un bitcoin|bitcoin|
ETH un ether|ether|
¢ un centesimo|centesimi|
"""
