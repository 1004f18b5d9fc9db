"""Every script: phrases are found, conditions fire, and a task in a language gets its own memory or none."""

import pytest
from rawkomem.embed.minilm import MiniLmEmbedder
from rawkomem.embed.static import StaticEmbedder
from rawkomem.model.entries import Task
from rawkomem.model.values import record
from rawkomem.repository import Repository


@record
class Case:
    """One memory of a language with its neighbor, and what is asked about them."""

    title: str
    body: str
    condition: str
    other: str  # the body of another memory in the same language
    phrase: str  # of the body
    fires: str  # a task on which the condition fires
    asks: str  # a task in other words that the body answers
    unrelated: str


CASES = {
    "chinese": Case(
        "发布新版本的步骤",
        "每次上线都先在预发布环境跑一遍冒烟测试，通过以后再切换流量，旧容器保留两个小时。",
        "修改支付网关的配置时",
        "图片缩略图统一存成 WebP 格式，宽度不超过八百像素。",
        "预发布环境跑一遍",
        "今天要修改支付网关的超时配置",
        "帮我写一个在预发布环境自动执行冒烟测试的脚本",
        "周末我们去公园野餐吧，天气不错",
    ),
    "japanese": Case(
        "夜間バッチの注意点",
        "請求書の集計処理は毎晩二時に始まるので、その時間帯にデータベースの保守作業を入れてはいけません。",
        "集計ジョブの開始時刻を変更する",
        "画面の配色は青を基調とし、警告だけを橙色にします。",
        "請求書の集計処理",
        "集計ジョブの開始時刻を変更するにはどうすればいいですか",
        "データベースの保守作業をいつ実施できるか教えてください",
        "来週の旅行で泊まる旅館を探してください",
    ),
    "korean": Case(
        "결제 모듈 점검",
        "환불 요청은 반드시 원장 테이블에 새로운 행으로 기록하고 기존 거래 내역을 수정하지 않는다.",
        "정산 배치를 다시 돌릴 때",
        "회의실 예약은 총무팀 달력에서 합니다.",
        "원장 테이블에 새로운 행",
        "어제 정산 배치를 다시 돌릴 때 오류가 났어요",
        "환불 요청을 처리하는 함수를 작성해 주세요",
        "오늘 저녁에 먹을 김치찌개 만드는 법 알려줘",
    ),
    "thai": Case(
        "วิธีสำรองข้อมูล",
        "ระบบจะสำรองฐานข้อมูลลูกค้าทุกคืนวันอาทิตย์ และเก็บไฟล์ไว้สามสิบวันก่อนลบทิ้ง",
        "กู้คืนฐานข้อมูลจากไฟล์เก่า",
        "พนักงานใหม่รับบัตรผ่านประตูที่ชั้นสอง",
        "สำรองฐานข้อมูลลูกค้า",
        "วันนี้ต้องกู้คืนฐานข้อมูลจากไฟล์เก่าของเดือนที่แล้ว",
        "อยากย้ายเวลาสำรองฐานข้อมูลลูกค้าไปวันเสาร์",
        "แนะนำร้านก๋วยเตี๋ยวอร่อยแถวนี้หน่อย",
    ),
    "russian": Case(
        "Миграции схемы",
        "Индексы больших таблиц создаём только с ключом CONCURRENTLY, иначе запись блокируется на несколько минут.",
        "добавление столбца в таблицу заказов",
        "Кофемашину на кухне чистит дежурный по пятницам.",
        "запись блокируется на несколько минут",
        "нужно добавление столбца в таблицу заказов для скидок",
        "как создать индексы больших таблиц без простоя",
        "посоветуй хороший фильм на вечер",
    ),
    "arabic": Case(
        "قواعد إرسال البريد",
        "رسائل التحقق تُرسل عبر الطابور الخلفي فقط، ولا يجوز إرسالها من خيط الطلب الرئيسي.",
        "تعديل قالب رسالة الترحيب",
        "مواعيد الصيانة تُعلن في لوحة الإعلانات قبل أسبوع.",
        "عبر الطابور الخلفي",
        "أريد تعديل قالب رسالة الترحيب بالكامل",
        "كيف نعيد المحاولة عندما تفشل رسائل التحقق",
        "ما هي أفضل وصفة لطبخ السمك",
    ),
    "hindi": Case(
        "भुगतान की जाँच",
        "असफल भुगतान को तीन बार दोहराया जाता है, उसके बाद ग्राहक सेवा की कतार में टिकट बनता है।",
        "धन वापसी की सीमा बदलना",
        "कार्यालय की चाबी स्वागत कक्ष में रखी रहती है।",
        "ग्राहक सेवा की कतार",
        "आज मुझे धन वापसी की सीमा बदलना है",
        "असफल भुगतान वाले आदेश की रिपोर्ट बनाओ",
        "बारिश में घूमने की अच्छी जगह बताओ",
    ),
    "mixed": Case(
        "Redis 连接池上限 🧯",
        "生产集群的 Redis 连接池上限设为 200，超过以后客户端会报 ERR max clients。🧯 先扩容再重启。",
        "调整 Redis 连接池|🧯",
        "前端组件库升级到 Vue 3 以后，旧的过滤器语法全部删除。",
        "Redis 连接池上限",
        "监控里出现 🧯 告警了",
        "写一段代码读取生产集群的 Redis 连接池上限",
        "推荐几首适合跑步的歌 🎵",
    ),
}
EACH = pytest.mark.parametrize("name", CASES)


@pytest.fixture(scope="module")
def everyone(tmp_path_factory):
    """One repository with the memories of all languages, so that each could get in another one's way."""
    project = tmp_path_factory.mktemp("scripts")
    memories = project / ".rawko" / "memories"
    memories.mkdir(parents=True)
    for name, case in CASES.items():
        told = f"---\ntitle: {case.title}\nwhenToUse: ['{case.condition}']\n---\n\n{case.body}\n"
        (memories / f"{name}.md").write_text(told, encoding="utf-8")
        (memories / f"{name}-other.md").write_text(f"---\ntitle: {name}\n---\n\n{case.other}\n", encoding="utf-8")
    opened = Repository.open(str(project), warn=lambda message: None)
    yield opened
    opened.close()


def injected(repository: Repository, task: str) -> list[str]:
    return [item.memory.id for item in repository.inject(Task(task)).items]


@EACH
@pytest.mark.parametrize("field", ["title", "phrase", "condition"])
def test_a_phrase_is_found(everyone, name, field):
    found = everyone.search(getattr(CASES[name], field).partition("|")[0], limit=3)
    assert found[0].row.id == name


@EACH
def test_a_condition_fires_and_brings_its_memory(everyone, name):
    result = everyone.inject(Task(CASES[name].fires))
    assert [item.memory.id for item in result.items] == [name]
    assert result.items[0].signals.fired


@EACH
def test_a_task_gets_the_memory_that_shares_a_phrase_with_it(everyone, name):
    assert injected(everyone, CASES[name].asks) == [name]


@EACH
def test_an_unrelated_task_gets_nothing(everyone, name):
    assert injected(everyone, CASES[name].unrelated) == []


@pytest.mark.parametrize("embedder", [StaticEmbedder, MiniLmEmbedder])
def test_a_text_in_an_unknown_script_has_no_vector(embedder):
    texts = [text for case in CASES.values() for text in (case.body, case.asks, case.unrelated)]
    assert not any(map(any, embedder().embed(texts)))


@pytest.mark.parametrize("phrase", ["备份", "バックアップ", "백업 절차", "🛟"])
def test_a_short_condition_needs_no_vector(repository, phrase):
    repository.add("x", title="plan", when=[phrase])
    repository.add("y", title="other", when=["午餐"])
    assert [item.memory.title for item in repository.inject(Task(f"今天 {phrase} 失败")).items] == ["plan"]


def test_spellings_of_one_word_meet(repository):
    repository.add("ＡＰＩキーは毎月交換する。", title="wide")
    repository.add("Ёмкость пула — двадцать соединений.", title="yo")
    repository.add("رَقْمُ الإصدار في الملف", title="vowels")
    repository.add("cafe\u0301 サーハ\u3099ー", title="decomposed")
    asked = {"wide": "API キー", "yo": "емкость", "vowels": "رقم", "decomposed": "サーバー"}
    assert {title: repository.search(text)[0].row.title for title, text in asked.items()} == {key: key for key in asked}


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("The invoiceTotal is rounded up.", "invoice total"), ("The invoice total is rounded up.", "invoiceTotal"),
        ("Restart the HTTPServer.", "http server"), ("Restart the http server.", "HTTPServer"),
        ("Call parse_json first.", "parseJson"), ("Use kebab-case for files.", "kebabCase"),
        ("The GitHub token expires.", "github"),
    ],
)  # fmt: skip
def test_words_of_compound_names_are_found(repository, stored, asked):
    repository.add(stored, title="wanted")
    repository.add("Lunch is served at noon in the hall.", title="noise")
    best = repository.search(asked)[0]
    assert best.row.title == "wanted" and best.signals.words > 0
