"""What people say in seven languages becomes a draft; a language without cues makes none."""

import pytest
from rawkomem.learn.cues import language_of, languages
from rawkomem.learn.drafts import entry_of_draft
from rawkomem.model.entries import REQUEST

from tests.learn.drafts.talk import answer, every_answer

DONE = "Done."
RULES = {
    "en": [
        "Never push to main without a review.",
        "please don't add comments that repeat the code",
        "Let's use pnpm for all packages.",
        "From now on, run make lint before every commit.",
        "You forgot the changelog again, it belongs to every pull request.",
    ],
    "de": [
        "Bitte nie direkt auf main pushen.",
        "Nein, wir verwenden hier pnpm und nicht npm.",
        "Ab jetzt laufen die Tests vor jedem Commit.",
        "Du hast schon wieder das Changelog vergessen.",
        "Ich bevorzuge kurze Funktionen statt langer Kommentare.",
        "Frag mich vorher, wenn du etwas löschen willst.",
    ],
    "es": [
        "Nunca hagas push directamente a main.",
        "Usa pnpm, no npm, en este proyecto.",
        "A partir de ahora ejecuta las pruebas antes de cada commit.",
        "Te olvidaste otra vez del changelog.",
        "Prefiero funciones cortas en vez de comentarios largos.",
    ],
    "fr": [
        "Ne pousse jamais directement sur main.",
        "On utilise pnpm ici, pas npm.",
        "Désormais, lance les tests avant chaque commit.",
        "Tu as oublié le changelog encore une fois.",
        "Je préfère des fonctions courtes plutôt que de longs commentaires.",
    ],
    "pt": [
        "Nunca faça push direto na main.",
        "Use pnpm, não npm, neste projeto.",
        "A partir de agora rode os testes antes de cada commit.",
        "Você esqueceu o changelog de novo.",
        "Prefiro funções curtas em vez de comentários longos.",
    ],
    "zh": [
        "永远不要直接推送到 main 分支。",
        "我们用 pnpm，而不是 npm。",
        "以后都要先运行测试再提交。",
        "你又忘了更新变更日志。",
        "必须先问我再删除文件。",
        "不要提交生成的文件。",
        "不要用 npm，直接用 pnpm。",
    ],
    "ja": [
        "絶対に main へ直接プッシュしないでください。",
        "npm ではなく pnpm を使います。",
        "今後はコミットの前に必ずテストを実行してください。",
        "また変更履歴を忘れています。",
        "ファイルを削除する前に必ず確認してください。",
        "生成されたファイルにさわるな。",
        "データベースはPostgreSQLを利用します。",
    ],
}
REQUESTS = {
    "en": ("Remember that the staging database is read-only.", "the staging database is read-only."),
    "de": ("Merk dir, dass die Staging-Datenbank nur lesbar ist.", "die Staging-Datenbank nur lesbar ist."),
    "es": ("Recuerda que la base de datos de staging es de solo lectura.", "la base de datos de staging es de solo lectura."),
    "fr": ("N'oublie pas que la base de staging est en lecture seule.", "la base de staging est en lecture seule."),
    "pt": ("Lembre-se que o banco de staging é somente leitura.", "o banco de staging é somente leitura."),
    "zh": ("请记住：测试数据库是只读的。", "测试数据库是只读的。"),
    "ja": ("覚えておいてください：ステージングのデータベースは読み取り専用です。", "ステージングのデータベースは読み取り専用です。"),
}  # fmt: skip
PASSING = {
    "en": ["can you run the tests?", "thanks, that works", "fix the bug in login.py",
           "I DO NOT see the new column", "my email is ann@example.org", "use this page instead", "don't change line 12 of app.py",
           "DO NOT CHANGE the contents of the list", "Do NOT remove the button for debugging", "do not add new functionality",
           "Do NOT touch the card or other parts",
           "You are an analyst. YOU DO NOT run builds or tests.",
           "The list should now show all rows", "the old rows are still showing and not the new ones"],
    "de": ["kannst du die Tests starten?", "danke, das passt so", "ich brauche einen Knopf für den Export",
           "Statt der Liste sollten hier zwei Spalten stehen"],
    "es": ["¿puedes ejecutar las pruebas?", "gracias, funciona", "necesito un botón para exportar",
           "En vez de la lista quiero dos columnas", "hay que guardar el estado del menú",
           "Haz que el botón siempre se vea en el móvil"],
    "fr": ["peux-tu lancer les tests ?", "merci, ça marche", "j'ai besoin d'un bouton pour exporter",
           "La liste n'apparaît toujours pas", "Ne fonctionne pas sur la page d'accueil", "Il faut enregistrer l'état du menu",
           "J'ai toujours ce message au lancement", "Assure-toi que l'import est correct"],
    "pt": ["você pode rodar os testes?", "obrigado, funcionou", "preciso de um botão para exportar",
           "Em vez da lista quero duas colunas"],
    "zh": ["你能运行测试吗？", "谢谢，可以了", "我需要一个导出按钮", "现在你需要修改登录页面，用户必须填写密码",
           "不要隐藏这个", "登录页面的按钮不要用蓝色", "列表还是不对，必须显示新数据", "避免重复加载", "下次打开时默认显示第一页"],
    "ja": ["テストを実行できますか？", "ありがとう、動きました", "エクスポートのボタンが必要です",
           "これから新しいタスクを与えます。", "この表も二列にしてほしい"],
}  # fmt: skip
UNKNOWN = [
    "serwer nie działa",  # Polish
    "Nigdy nie wypychaj bezpośrednio do main, zawsze użyj pnpm a nie npm.",  # Polish
    "Никогда не пушь прямо в main, мы используем pnpm.",  # Russian
    "Älä koskaan työnnä suoraan mainiin, käytä aina pnpm:ää.",  # Finnish
    "Asla doğrudan main dalına gönderme, her zaman pnpm kullan.",  # Turkish
    "절대로 main에 직접 푸시하지 마세요.",  # Korean
    "لا تدفع مباشرة إلى main أبدا",  # Arabic
    "qwerty asdf zxcv 123 !!",
]


def cases(table: dict[str, list[str]]) -> list[tuple[str, str]]:
    return [(code, said) for code, several in table.items() for said in several]


def test_each_language_has_its_sentences_here():
    assert {*languages()} == {*RULES} == {*REQUESTS} == {*PASSING}


@pytest.mark.parametrize(("code", "said"), cases(RULES))
def test_a_rule_is_a_draft_in_its_language(code, said):
    assert language_of(said) == code
    (draft,) = answer(said, DONE)
    assert draft.said == said and said.casefold().endswith(draft.text.casefold()) and draft.title


@pytest.mark.parametrize("code", [*REQUESTS])
def test_a_request_to_remember_proposes_exactly_the_words_that_follow(code):
    said, words = REQUESTS[code]
    (draft,) = answer(said, DONE)
    assert (draft.kind, draft.said, draft.text) == (REQUEST, said, words) and entry_of_draft(draft).body == words


@pytest.mark.parametrize(("code", "said"), cases(PASSING))
def test_a_question_thanks_or_a_wish_is_not_asked_about(code, said):
    assert answer(said, DONE) == []


@pytest.mark.parametrize("said", UNKNOWN)
def test_a_language_without_cues_makes_no_drafts(said):
    assert every_answer(said, DONE) == []


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("Nein, nie vitest benutzen, nimm jest.", "Nie vitest benutzen, nimm jest"),
        ("Non, ne pousse jamais directement sur main.", "Ne pousse jamais directement sur main"),
        ("Não, nunca faça push direto na main.", "Nunca faça push direto na main"),
    ],
)
def test_a_title_starts_after_the_no_in_other_languages(said, title):
    assert [one.title for one in answer(said)] == [title]
