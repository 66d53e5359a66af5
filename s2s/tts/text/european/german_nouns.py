"""What German numbers count: units and currencies. Data only.

Each line: sign, then "one", "many" and, of money, the name of the parts.
"""

UNITS = """
km ein Kilometer|Kilometer
m ein Meter|Meter
dm ein Dezimeter|Dezimeter
cm ein Zentimeter|Zentimeter
mm ein Millimeter|Millimeter
µm ein Mikrometer|Mikrometer
nm ein Nanometer|Nanometer
mi eine Meile|Meilen
ft ein Fuß|Fuß
in ein Zoll|Zoll
kg ein Kilogramm|Kilogramm
g ein Gramm|Gramm
mg ein Milligramm|Milligramm
µg ein Mikrogramm|Mikrogramm
t eine Tonne|Tonnen
lb ein Pfund|Pfund
oz eine Unze|Unzen
l ein Liter|Liter
hl ein Hektoliter|Hektoliter
dl ein Deziliter|Deziliter
cl ein Zentiliter|Zentiliter
ml ein Milliliter|Milliliter
ha ein Hektar|Hektar
h eine Stunde|Stunden
min eine Minute|Minuten
s eine Sekunde|Sekunden
ms eine Millisekunde|Millisekunden
µs eine Mikrosekunde|Mikrosekunden
ns eine Nanosekunde|Nanosekunden
Hz ein Hertz|Hertz
kHz ein Kilohertz|Kilohertz
MHz ein Megahertz|Megahertz
GHz ein Gigahertz|Gigahertz
W ein Watt|Watt
kW ein Kilowatt|Kilowatt
MW ein Megawatt|Megawatt
GW ein Gigawatt|Gigawatt
Wh eine Wattstunde|Wattstunden
kWh eine Kilowattstunde|Kilowattstunden
MWh eine Megawattstunde|Megawattstunden
V ein Volt|Volt
kV ein Kilovolt|Kilovolt
mV ein Millivolt|Millivolt
mA ein Milliampere|Milliampere
mAh eine Milliamperestunde|Milliamperestunden
A ein Ampere|Ampere
Ω ein Ohm|Ohm
kΩ ein Kiloohm|Kiloohm
J ein Joule|Joule
kJ ein Kilojoule|Kilojoule
kcal eine Kilokalorie|Kilokalorien
cal eine Kalorie|Kalorien
Pa ein Pascal|Pascal
hPa ein Hektopascal|Hektopascal
kPa ein Kilopascal|Kilopascal
bar ein Bar|Bar
mbar ein Millibar|Millibar
N ein Newton|Newton
kN ein Kilonewton|Kilonewton
dB ein Dezibel|Dezibel
PS eine Pferdestärke|P S
B ein Byte|Byte
KB ein Kilobyte|Kilobyte
MB ein Megabyte|Megabyte
GB ein Gigabyte|Gigabyte
TB ein Terabyte|Terabyte
bit ein Bit|Bit
Mbit ein Megabit|Megabit
Gbit ein Gigabit|Gigabit
MP ein Megapixel|Megapixel
px ein Pixel|Pixel
°C ein Grad Celsius|Grad Celsius
°F ein Grad Fahrenheit|Grad Fahrenheit
° ein Grad|Grad
ppm ein Teil pro Million|Teile pro Million
"""
CURRENCIES = """
EUR ein Euro|Euro|Cent
$ ein Dollar|Dollar|Cent
USD ein US-Dollar|US-Dollar|Cent
GBP ein Pfund|Pfund|Pence
JPY ein Yen|Yen|
CNY ein Yuan|Yuan|
CHF ein Schweizer Franken|Schweizer Franken|Rappen
SEK eine schwedische Krone|schwedische Kronen|Öre
NOK eine norwegische Krone|norwegische Kronen|Öre
DKK eine dänische Krone|dänische Kronen|Öre
ISK eine isländische Krone|isländische Kronen|
PLN ein Zloty|Zloty|Groschen
CZK eine tschechische Krone|tschechische Kronen|Heller
HUF ein Forint|Forint|
RON ein Leu|Lei|Bani
BGN ein Lew|Lewa|Stotinki
TRY eine türkische Lira|türkische Lira|Kurusch
RUB ein Rubel|Rubel|Kopeken
UAH eine Hrywnja|Hrywnja|Kopeken
INR eine Rupie|Rupien|Paise
KRW ein Won|Won|
BRL ein Real|Real|Centavos
MXN ein mexikanischer Peso|mexikanische Pesos|Centavos
ARS ein argentinischer Peso|argentinische Pesos|Centavos
CLP ein chilenischer Peso|chilenische Pesos|
COP ein kolumbianischer Peso|kolumbianische Pesos|Centavos
AUD ein australischer Dollar|australische Dollar|Cent
CAD ein kanadischer Dollar|kanadische Dollar|Cent
NZD ein neuseeländischer Dollar|neuseeländische Dollar|Cent
HKD ein Hongkong-Dollar|Hongkong-Dollar|Cent
SGD ein Singapur-Dollar|Singapur-Dollar|Cent
TWD ein Taiwan-Dollar|Taiwan-Dollar|
ZAR ein Rand|Rand|Cent
ILS ein Schekel|Schekel|Agorot
AED ein Dirham|Dirham|Fils
SAR ein Rial|Rial|Halala
THB ein Baht|Baht|Satang
IDR eine Rupiah|Rupiah|
PHP ein philippinischer Peso|philippinische Pesos|Centavos
VND ein Dong|Dong|
EGP ein ägyptisches Pfund|ägyptische Pfund|Piaster
NGN ein Naira|Naira|Kobo
BTC ein Bitcoin|Bitcoin|
ETH ein Ether|Ether|
¢ ein Cent|Cent|
"""
