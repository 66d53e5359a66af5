"""What Portuguese numbers count: units and currencies. Data only.

Each line: sign, then "one", "many" and, of money, the name of the parts.
"""

UNITS = """
km um quilômetro|quilômetros
m um metro|metros
dm um decímetro|decímetros
cm um centímetro|centímetros
mm um milímetro|milímetros
µm um micrômetro|micrômetros
nm um nanômetro|nanômetros
mi uma milha|milhas
ft um pé|pés
in uma polegada|polegadas
kg um quilograma|quilogramas
g um grama|gramas
mg um miligrama|miligramas
µg um micrograma|microgramas
t uma tonelada|toneladas
lb uma libra|libras
oz uma onça|onças
l um litro|litros
hl um hectolitro|hectolitros
dl um decilitro|decilitros
cl um centilitro|centilitros
ml um mililitro|mililitros
ha um hectare|hectares
h uma hora|horas
min um minuto|minutos
s um segundo|segundos
ms um milissegundo|milissegundos
µs um microssegundo|microssegundos
ns um nanossegundo|nanossegundos
Hz um hertz|hertz
kHz um quilohertz|quilohertz
MHz um megahertz|megahertz
GHz um gigahertz|gigahertz
W um watt|watts
kW um quilowatt|quilowatts
MW um megawatt|megawatts
GW um gigawatt|gigawatts
Wh um watt-hora|watts-hora
kWh um quilowatt-hora|quilowatts-hora
MWh um megawatt-hora|megawatts-hora
V um volt|volts
kV um quilovolt|quilovolts
mV um milivolt|milivolts
mA um miliampere|miliamperes
mAh um miliampere-hora|miliamperes-hora
A um ampere|amperes
Ω um ohm|ohms
kΩ um quilo-ohm|quilo-ohms
J um joule|joules
kJ um quilojoule|quilojoules
kcal uma quilocaloria|quilocalorias
cal uma caloria|calorias
Pa um pascal|pascals
hPa um hectopascal|hectopascals
kPa um quilopascal|quilopascals
bar um bar|bares
mbar um milibar|milibares
N um newton|newtons
kN um quilonewton|quilonewtons
dB um decibel|decibéis
B um byte|bytes
KB um kilobyte|kilobytes
MB um megabyte|megabytes
GB um gigabyte|gigabytes
TB um terabyte|terabytes
bit um bit|bits
Mbit um megabit|megabits
Gbit um gigabit|gigabits
MP um megapixel|megapixels
px um pixel|pixels
°C um grau Celsius|graus Celsius
°F um grau Fahrenheit|graus Fahrenheit
° um grau|graus
ppm uma parte por milhão|partes por milhão
"""
CURRENCIES = """
EUR um euro|euros|cêntimos
$ um dólar|dólares|centavos
USD um dólar americano|dólares americanos|centavos
GBP uma libra|libras|pence
JPY um iene|ienes|
CNY um yuan|yuans|
CHF um franco suíço|francos suíços|cêntimos
SEK uma coroa sueca|coroas suecas|öre
NOK uma coroa norueguesa|coroas norueguesas|øre
DKK uma coroa dinamarquesa|coroas dinamarquesas|øre
ISK uma coroa islandesa|coroas islandesas|
PLN um zloty|zlotys|groszy
CZK uma coroa checa|coroas checas|
HUF um forint|forints|
RON um leu|lei|bani
BGN um lev|leva|
TRY uma lira turca|liras turcas|kuruş
RUB um rublo|rublos|copeques
UAH uma grívnia|grívnias|copeques
INR uma rúpia|rúpias|paisas
KRW um won|wons|
BRL um real|reais|centavos
MXN um peso mexicano|pesos mexicanos|centavos
ARS um peso argentino|pesos argentinos|centavos
CLP um peso chileno|pesos chilenos|
COP um peso colombiano|pesos colombianos|centavos
AUD um dólar australiano|dólares australianos|centavos
CAD um dólar canadense|dólares canadenses|centavos
NZD um dólar neozelandês|dólares neozelandeses|centavos
HKD um dólar de Hong Kong|dólares de Hong Kong|centavos
SGD um dólar de Singapura|dólares de Singapura|centavos
TWD um dólar taiwanês|dólares taiwaneses|
ZAR um rand|rands|centavos
ILS um shekel|shekels|agorot
AED um dirham|dirhams|fils
SAR um rial|riais|halalas
THB um baht|bahts|satangs
IDR uma rupia indonésia|rupias indonésias|
PHP um peso filipino|pesos filipinos|centavos
VND um dong|dongs|
EGP uma libra egípcia|libras egípcias|piastras
NGN uma naira|nairas|kobos
BTC um bitcoin|bitcoins|
ETH um ether|ethers|
¢ um centavo|centavos|
"""
