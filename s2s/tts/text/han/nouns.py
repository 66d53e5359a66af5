"""What Chinese and Japanese numbers count: units and currencies. Data only.

Each line: sign, Chinese, Japanese.
"""

from __future__ import annotations

_UNITS_TEXT = """
km 公里 キロメートル
m 米 メートル
dm 分米 デシメートル
cm 厘米 センチメートル
mm 毫米 ミリメートル
µm 微米 マイクロメートル
nm 纳米 ナノメートル
mi 英里 マイル
ft 英尺 フィート
in 英寸 インチ
kg 公斤 キログラム
g 克 グラム
mg 毫克 ミリグラム
µg 微克 マイクログラム
t 吨 トン
lb 磅 ポンド
oz 盎司 オンス
l 升 リットル
L 升 リットル
dl 分升 デシリットル
cl 厘升 センチリットル
ml 毫升 ミリリットル
mL 毫升 ミリリットル
ha 公顷 ヘクタール
h 小时 時間
min 分钟 分
s 秒 秒
ms 毫秒 ミリ秒
µs 微秒 マイクロ秒
ns 纳秒 ナノ秒
Hz 赫兹 ヘルツ
kHz 千赫 キロヘルツ
MHz 兆赫 メガヘルツ
GHz 吉赫 ギガヘルツ
W 瓦 ワット
kW 千瓦 キロワット
MW 兆瓦 メガワット
GW 吉瓦 ギガワット
Wh 瓦时 ワット時
kWh 千瓦时 キロワット時
V 伏 ボルト
kV 千伏 キロボルト
mV 毫伏 ミリボルト
mA 毫安 ミリアンペア
mAh 毫安时 ミリアンペア時
A 安 アンペア
Ω 欧姆 オーム
kΩ 千欧 キロオーム
J 焦 ジュール
kJ 千焦 キロジュール
kcal 千卡 キロカロリー
cal 卡 カロリー
Pa 帕 パスカル
hPa 百帕 ヘクトパスカル
kPa 千帕 キロパスカル
bar 巴 バール
N 牛 ニュートン
dB 分贝 デシベル
B 字节 バイト
KB 千字节 キロバイト
kB 千字节 キロバイト
MB 兆字节 メガバイト
GB 吉字节 ギガバイト
TB 太字节 テラバイト
Mbps 兆比特每秒 メガビット毎秒
Gbps 吉比特每秒 ギガビット毎秒
mph 英里每小时 マイル毎時
rpm 转每分钟 回転毎分
px 像素 ピクセル
°C 摄氏度 度
°F 华氏度 度
° 度 度
"""
_CURRENCIES_TEXT = """
EUR 欧元 ユーロ
$ 美元 ドル
USD 美元 米ドル
GBP 英镑 ポンド
JPY 日元 円
CNY 人民币 人民元
CHF 瑞士法郎 スイスフラン
SEK 瑞典克朗 スウェーデンクローナ
NOK 挪威克朗 ノルウェークローネ
DKK 丹麦克朗 デンマーククローネ
ISK 冰岛克朗 アイスランドクローナ
PLN 兹罗提 ズウォティ
CZK 捷克克朗 チェココルナ
HUF 福林 フォリント
RON 列伊 レイ
BGN 列弗 レフ
TRY 土耳其里拉 トルコリラ
RUB 卢布 ルーブル
UAH 格里夫纳 フリヴニャ
INR 卢比 ルピー
KRW 韩元 ウォン
BRL 雷亚尔 レアル
MXN 墨西哥比索 メキシコペソ
ARS 阿根廷比索 アルゼンチンペソ
CLP 智利比索 チリペソ
COP 哥伦比亚比索 コロンビアペソ
AUD 澳元 オーストラリアドル
CAD 加元 カナダドル
NZD 新西兰元 ニュージーランドドル
HKD 港元 香港ドル
SGD 新加坡元 シンガポールドル
TWD 新台币 台湾ドル
ZAR 兰特 ランド
ILS 谢克尔 シェケル
AED 迪拉姆 ディルハム
SAR 里亚尔 リヤル
THB 泰铢 バーツ
IDR 印尼盾 ルピア
PHP 菲律宾比索 フィリピンペソ
VND 越南盾 ドン
EGP 埃及镑 エジプトポンド
NGN 奈拉 ナイラ
BTC 比特币 ビットコイン
ETH 以太币 イーサ
¢ 美分 セント
"""


def _table(text: str, column: int) -> dict[str, str]:
    rows = (line.split() for line in text.strip().splitlines())
    return {row[0]: row[column] for row in rows}


UNITS = {"zh": _table(_UNITS_TEXT, 1), "ja": _table(_UNITS_TEXT, 2)}
CURRENCIES = {"zh": _table(_CURRENCIES_TEXT, 1) | {"JPY": "元"}, "ja": _table(_CURRENCIES_TEXT, 2)}
"""In Chinese "¥" is the yuan; the code JPY is read apart."""
