"""Sentences with a place for a number: each position, in eight languages. Data only."""

from __future__ import annotations

CARRIERS = {
    "en": ("{} is what it says.", "They wrote {} there.", "It says {}.", "See this ({}) now.",
           'The sign "{}" is old.', "Value: {}", "It says {}, they wrote.", "**{}**\nfollows."),
    "de": ("{} steht dort.", "Dort steht {} geschrieben.", "Dort steht {}.",
    "Siehe hier ({}) nach.",
           "Das Schild „{}“ hier.", "Wert: {}", "Dort steht {}, sagen sie.", "**{}**\nfolgt."),
    "fr": ("{} est ici.", "Ils notent {} ici.", "Voici {}.", "Voir ici ({}) alors.",
           "Le panneau « {} » ici.", "Valeur : {}", "Voici {}, disent-ils.", "**{}**\nsuit."),
    "es": ("{} aparece aquí.", "Dicen {} aquí.", "Dicen {}.", "Véase ({}) aquí.",
           "El cartel «{}» dice.", "Valor: {}", "Dicen {}, según ellos.", "**{}**\nsigue."),
    "it": ("{} compare qui.", "Dicono {} qui.", "Dicono {}.", "Vedi ({}) qui.",
           "Il cartello «{}» dice.", "Valore: {}", "Dicono {}, dicono.", "**{}**\nsegue."),
    "pt": ("{} aparece aqui.", "Dizem {} aqui.", "Dizem {}.", "Veja ({}) aqui.",
           "O cartaz “{}” diz.", "Valor: {}", "Dizem {}, dizem.", "**{}**\nsegue."),
    "zh": ("{}是结果。", "结果是{}左右。", "结果是{}。", "请看（{}）这里。", "牌子上写着“{}”。",
           "结果：{}", "结果是{}，没错。", "**{}**\n如上。"),
    "ja": ("{}が結果です。", "結果は{}でした。", "結果は{}。", "ここ（{}）を見て。",
    "看板は「{}」とある。",
           "結果：{}", "結果は{}、です。", "**{}**\n以上。"),
}  # fmt: skip
