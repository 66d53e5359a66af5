"""What Spanish numbers count: units and currencies. Data only.

Each line: sign, then "one", "many" and, of money, the name of the parts.
"""

UNITS = """
km un kilómetro|kilómetros
m un metro|metros
dm un decímetro|decímetros
cm un centímetro|centímetros
mm un milímetro|milímetros
µm un micrómetro|micrómetros
nm un nanómetro|nanómetros
mi una milla|millas
ft un pie|pies
in una pulgada|pulgadas
kg un kilogramo|kilogramos
g un gramo|gramos
mg un miligramo|miligramos
µg un microgramo|microgramos
t una tonelada|toneladas
lb una libra|libras
oz una onza|onzas
l un litro|litros
hl un hectolitro|hectolitros
dl un decilitro|decilitros
cl un centilitro|centilitros
ml un mililitro|mililitros
ha una hectárea|hectáreas
h una hora|horas
min un minuto|minutos
s un segundo|segundos
ms un milisegundo|milisegundos
µs un microsegundo|microsegundos
ns un nanosegundo|nanosegundos
Hz un hercio|hercios
kHz un kilohercio|kilohercios
MHz un megahercio|megahercios
GHz un gigahercio|gigahercios
W un vatio|vatios
kW un kilovatio|kilovatios
MW un megavatio|megavatios
GW un gigavatio|gigavatios
Wh un vatio hora|vatios hora
kWh un kilovatio hora|kilovatios hora
MWh un megavatio hora|megavatios hora
V un voltio|voltios
kV un kilovoltio|kilovoltios
mV un milivoltio|milivoltios
mA un miliamperio|miliamperios
mAh un miliamperio hora|miliamperios hora
A un amperio|amperios
Ω un ohmio|ohmios
kΩ un kiloohmio|kiloohmios
J un julio|julios
kJ un kilojulio|kilojulios
kcal una kilocaloría|kilocalorías
cal una caloría|calorías
Pa un pascal|pascales
hPa un hectopascal|hectopascales
kPa un kilopascal|kilopascales
bar un bar|bares
mbar un milibar|milibares
N un newton|newtons
kN un kilonewton|kilonewtons
dB un decibelio|decibelios
B un byte|bytes
KB un kilobyte|kilobytes
MB un megabyte|megabytes
GB un gigabyte|gigabytes
TB un terabyte|terabytes
bit un bit|bits
Mbit un megabit|megabits
Gbit un gigabit|gigabits
MP un megapíxel|megapíxeles
px un píxel|píxeles
°C un grado Celsius|grados Celsius
°F un grado Fahrenheit|grados Fahrenheit
° un grado|grados
ppm una parte por millón|partes por millón
"""
CURRENCIES = """
EUR un euro|euros|céntimos
$ un dólar|dólares|centavos
USD un dólar estadounidense|dólares estadounidenses|centavos
GBP una libra|libras|peniques
JPY un yen|yenes|
CNY un yuan|yuanes|
CHF un franco suizo|francos suizos|céntimos
SEK una corona sueca|coronas suecas|öre
NOK una corona noruega|coronas noruegas|øre
DKK una corona danesa|coronas danesas|øre
ISK una corona islandesa|coronas islandesas|
PLN un zloty|zlotys|groszy
CZK una corona checa|coronas checas|
HUF un forinto|forintos|
RON un leu|lei|bani
BGN un lev|leva|
TRY una lira turca|liras turcas|kuruş
RUB un rublo|rublos|kopeks
UAH una grivna|grivnas|kopeks
INR una rupia|rupias|paisas
KRW un won|wones|
BRL un real|reales|centavos
MXN un peso mexicano|pesos mexicanos|centavos
ARS un peso argentino|pesos argentinos|centavos
CLP un peso chileno|pesos chilenos|
COP un peso colombiano|pesos colombianos|centavos
AUD un dólar australiano|dólares australianos|centavos
CAD un dólar canadiense|dólares canadienses|centavos
NZD un dólar neozelandés|dólares neozelandeses|centavos
HKD un dólar de Hong Kong|dólares de Hong Kong|centavos
SGD un dólar de Singapur|dólares de Singapur|centavos
TWD un dólar taiwanés|dólares taiwaneses|
ZAR un rand|rands|centavos
ILS un séquel|séqueles|agorot
AED un dírham|dírhams|fils
SAR un rial|riales|halalas
THB un baht|bahts|satangs
IDR una rupia indonesia|rupias indonesias|
PHP un peso filipino|pesos filipinos|centavos
VND un dong|dongs|
EGP una libra egipcia|libras egipcias|piastras
NGN una naira|nairas|kobos
BTC un bitcoin|bitcoins|
ETH un éter|éteres|
¢ un centavo|centavos|
"""
