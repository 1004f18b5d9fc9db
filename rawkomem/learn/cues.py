"""Cues in people's words: tables of one file for each language, `languages/<code>.toml`, and patterns for English.

No pattern has nested repetition, and all are applied to texts of limited length only.
"""

from __future__ import annotations

import os
import re
import tomllib
from functools import cache, lru_cache
from typing import Any

from ..model.values import record
from ..text.language import language, word_set

# Kinds of cues that are no kinds of drafts: a question, a doubt, a request to write down what was just said, and a "don't"
QUESTION = "question"
DOUBT = "doubt"
NOTE = "note"
BAN = "ban"
WISH = "wish"
TASK = "task"
REPORT = "report"
MAX_READ_SENTENCES = (
    10_000  # whose cues are remembered: hooks read a session again and again
)
# a sentence that would be shorter without its lead-ins keeps them: "no, jest"
MIN_PLAIN_CHARS = 8
MIN_KNOWN_SHARE = 0.15  # of the words of a sentence that its language must know


@record
class Cue:
    """A pattern in a person's words, the score that a match adds, and the kind of draft that it suggests.

    A cue of the kind "request" asks to remember the words in the group of its pattern.
    """

    name: str
    weight: float
    pattern: re.Pattern[str]
    kind: str = ""  # empty: any kind


def caseless(pattern: str) -> re.Pattern[str]:
    """Return a pattern that matches upper and lower case."""
    return re.compile(pattern, re.IGNORECASE)


def any_of(*patterns: str) -> re.Pattern[str]:
    """Return one pattern that matches any of the patterns, in upper or lower case."""
    return re.compile(
        "|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE | re.MULTILINE
    )


@cache
def languages() -> dict[str, dict[str, Any]]:
    """Return the code of each language with cues, and its tables.

    words: frequent words, by which a sentence is recognized; letters: the script, if it is not Latin; polite: words that
    a memory leaves out; guards: how a rule names a command or a file; cue: the cues.
    """
    folder = os.path.join(os.path.dirname(__file__), "languages")
    known = {}
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as file:
            table = tomllib.load(file)
        known[name.partition(".")[0]] = table | {"words": word_set(table["words"])}
    return known


@cache
def _cues_of(code: str) -> tuple[Cue, ...]:
    """Return the cues of a language; none for the language "", which is unknown."""
    table = languages().get(code, {"cue": ()})
    return tuple(
        Cue(one["name"], one["weight"], any_of(*one["patterns"]), one.get("kind", ""))
        for one in table["cue"]
    )


def language_of(sentence: str) -> str:
    """Return the code of the language with cues that a sentence is in; empty if it is in no such language."""
    words = language().words(sentence)
    counts = {}
    latin = sum(map(str.isascii, words))
    for code, table in languages().items():
        letters = table.get("letters")
        if letters and 2 * len(re.findall(letters, sentence)) > latin:
            return code
        counts[code] = len(table["words"].intersection(words))
    best = max(counts, key=lambda code: (counts[code], code == "en"))
    least = 1 if best == "en" else 2  # "nie" is a word of other languages, too
    return best if counts[best] >= max(least, MIN_KNOWN_SHARE * len(words)) else ""


@lru_cache(MAX_READ_SENTENCES)
def cues_in(sentence: str) -> tuple[Cue, ...]:
    """Return the cues in a sentence; none if it is in a language without cues."""
    known = _cues_of(language_of(sentence))
    return tuple(cue for cue in known if cue.pattern.search(sentence))


@cache
def _words_of(code: str, key: str, around: str) -> re.Pattern[str] | None:
    """Return a pattern of a language's file, put into another pattern in place of "WORDS"; None if it has none."""
    words = languages().get(code, {}).get(key)
    return words and caseless(around.replace("WORDS", f"(?:{words})"))


def without_politeness(sentence: str) -> str:
    """Return a sentence without "please" and without lead-ins such as "no," and "from now on,"."""
    around = r"(?:(?<=\S),? )?WORDS(?=[.;:!?]|$)|WORDS,? ?"
    polite = _words_of(language_of(sentence), "polite", around)
    bare: str = LEAD_INS.sub("", polite.sub("", sentence) if polite else sentence)
    return bare if len(bare) > MIN_PLAIN_CHARS else sentence


def begins_as_rule(sentence: str) -> bool:
    """Return whether a sentence begins as a rule does: "never", "don't", "we …". True in a language without such words."""
    known = _words_of(language_of(sentence), "begins", "WORDS")
    said = (without_politeness(sentence), sentence)
    return known is None or any(map(known.match, said))


AGREES = caseless(
    r"^(?:ok(?:ay)?\W+)?(?:yes|yep|yup|yeah|agreed|exactly|good (?:idea|call|point)|sounds (?:good|great|right)"
    r"|makes sense"
    r"|that'?s (?:right|fine|good|it|correct)|do (?:it|that|so)|go (?:ahead|for it|with)|ship it|lgtm|please do"
    r"|love it|i agree"
    r"|you'?re right|implement (?:it|that|this|option)|option \w\b|the (?:first|second|third|latter|former)\b)"
)
NODS = caseless(  # an agreement, unless a word after it starts the next request
    r"^(?:ok(?:ay)?|sure|fine|great|perfect|right|correct|good|cool|nice)\b(?!\W+(?:now|let|next|so|then|what|can)\b)"
)
OBJECTS = caseless(
    r"^(?:no|nope|nah|wait|stop|hmm|hold on|wrong|actually|but|not (?:quite|really|that|yet)|don'?t|that'?s (?:not"
    r"|wrong)"
    r"|why|isn'?t|shouldn'?t|are you sure|really\?)\b|\b(?:disagree|that'?s wrong|undo|revert|don'?t think)\b"
)
QUALIFIES = caseless(  # restricts or takes back an agreement
    r"\b(?:no(?! (?:problem|worries|need|rush))|nope|not|but|stop|wait|except|never|don'?t|isn'?t|won'?t|doesn'?t)\b"
)
SENTENCE_END = re.compile(r"[.!?]\s|\n")


def without_reasons(text: str) -> str:
    """Return a text without the reasons that it gives: without "because …", each until the end of its sentence."""
    around = r"^WORDS[^,，]*[,，]\s*|,?\s?WORDS.*?(?=[.!?。](?:\s|$)|$)"
    reasons = _words_of(language_of(text), "reasons", around)
    return (reasons.sub("", text) if reasons else "") or text


# a quote may end before it
REASON = caseless(r",? (?:because|'?cause|cuz|since|so that)\b")
TAKEN_BACK = caseless(  # a sentence that takes back the one before it
    r"(?:(?:but|and|well|no)[,.!]?\s+){0,2}(?:"
    r"(?:that|this|it|these|those|which)(?:'s| is| was| are| were)(?: \w+){0,2} (?:what|how|the way|something)\b"
    r"[^.!?]{0,60}?(?:\b(?:not|never|cannot|avoid|stop)\b|n't\b)"
    r"|(?:that|this|it|these|those|which)(?:'s| is| was| are| were)(?: \w+){0,2} (?:wrong|false|forbidden|banned|obsolete"
    r"|outdated|not (?:true|right|allowed|ok(?:ay)?)|no longer (?:true|right|allowed)|a mistake)(?: here| now| any ?more)?(?:[.!,;]|$)"
    r"|(?:please )?(?:never|don't|do not|you must not|stop) (?:ever )?(?:do|doing|say|want|accept) (?:that|this|it|so)\b"
    r"|(?:wrong|false|not|not true|never|(?:just )?kidding|scratch that|forget (?:that|it))(?: again)?(?:[.!,]|$))"
)
ASSENT = caseless(  # words of an answer that name no action of their own
    r"\b(?:ok(?:ay)?|yes|yep|yup|yeah|sure|fine|great|perfect|right|correct|good|cool|nice|agreed|exactly|idea|call|point"
    r"|sounds|makes? sense|that'?s|it|ship|lgtm|please|love|agree|you'?re|implement|option|first|second|third|latter"
    r"|former|go|ahead|do|so|way|both|all|approach|plan|suggestion|recommendation|proceed|thanks?|thank you|absolutely"
    r"|definitely|of course|now|let'?s|like|apply|make)\b"
)
# An agent's statement that becomes a draft if the person agrees to it.
PROPOSES = caseless(
    r"\b(?:recommend\w*|propos\w*|suggest\w*|option|approach|should|instead|rather|because|always|never|only|so that"
    r"|fix|cause|default|prefer\w*|convention|would)\b"
)
# Of these, a statement that says in clear words what to do.
SETTLES = caseless(
    r"\b(?:we|the [\w-]+) should(?:n't| not)?\b|\brecommend(?:ation|ed \w+)\W*(?::| is\b)|\bi(?:'d| would)? (?:recommend|propose|suggest)\b(?! \w+ing\b)"
    r"|\bfix (?:is|should|would)\b"
)
OFFERS = caseless(
    r"\b(?:want me to|shall (?:i|we)|should i|would you like|do you want|anything else|what's next|let me|say the word"
    r"|if you(?:.?d (?:like|rather)| want)|please specify|does that (?:sound|work)|ready to|i can|i'?ll|i will|i'?m going to|happy to)\b"
)
OFFER_WORDS = word_set("want would like know say word ready")
# An offer to act on the statement before it: "Shall I do that?". "… for this task" names something else.
REFERS = caseless(
    r"\b(?!for|in|on|to|with|of|at|about|from|into)\w+ (?:it|this|that|these|those|them|so|option|ahead)\b|\bproceed\b"
    r"|\bthat (?:sound|work|way|shape)|#\d"
)
CONTINUES = caseless(
    r"(?:that|this|it|so|these|those|they|otherwise)\b|.*\binstead\W*$"
)
# A rule that forbids something: the sentence after it says what to do instead.
NEGATES = caseless(r"\b(?:never|do(?:n'?t| not)|avoid|stop)\b")
# A short task that does not say what to do instead of what was forbidden.
NEXT_STEP = caseless(
    r"\W*(?:check|fix|implement|continue|proceed|try|look|mark|ignore|start|go)\b"
)
LIST_MARK = re.compile(r"^(?:[-*•]|\d{1,2}[.)]) +")
EXPLAINS = caseless(
    r"\b(?:because|caused by|root cause|the (?:issue|problem|cause|bug|culprit|fix|reason) (?:is|was)|due to"
    r"|turns? out"
    r"|turned out|came from|stems? from|which is why)\b"
)
# A line before somebody else's words: "The README says:".
LEADS_IN = caseless(
    r"\b(?:says?|said|suggest(?:s|ed)?|wr(?:ites?|ote)|report(?:s|ed)?|prints?|printed|returns?|complains?|shows?"
    r"|told me|sent"
    r"|got|get|getting|see|seeing|output|log|error|trace|readme|vendor|documentation|ticket|e-?mail|slack|article"
    r"|page"
    r"|comments?|reviewer|review|copilot|coderabbit|reply|replied|message|transcript|summari[sz]e|translate"
    r"|proofread|explain"
    r"|address|from the|quote|snippet|paste|below|following)\b[^:]{0,80}:\s*$|\b(?:this|these):\s*$"
    r"|\b(?:(?:text|content|copy|details|message|mail|log|output|transcript|notes|page|ticket|issue) (?:follows|below)"
    r"|(?:see|pasted|copied) below)\W*$"
)
# A line before a fact that the person states as their own: "Our company address is:".
FACT = caseless(
    r"\b(?:our|my) (?:[\w-]+ ){0,3}(?:address|name|e-?mail|phone|domain|url|account|number|port|host|server|id)(?: is| are)?:\s*$"
)
# A rule that a person states as a quotation: "Follow this rule:" and a line "> Never use grep."
QUOTED_RULE = re.compile(
    r"^([^>\n]{0,200}\b(?:rule|convention|guideline|from now on)\b[^:>\n]{0,40}:) *\n+> ?([^\n]+)",
    re.IGNORECASE | re.MULTILINE,
)
# Words before somebody else's, in the same line: "translate to German: …", "the vendor said: …".
TELLS = caseless(
    r"\b(?:translate|summari[sz]e|proofread|rephrase|reword|(?:review |commit )?(?:comment|message)|reply|e-?mail|snippet"
    r"|(?<!i )(?<!we )(?<!you )(?:says?|said|wrote|writes|replied|told me|reads))\b[^:.!?]{0,60}: (?=\S)"
)
# A line that starts a paste: a name with a time, a heading, a page's navigation, an element, a forwarded message.
OPENS = any_of(
    r"^\W?[\w.@][\w.@ -]{0,40}[ ,]+[\[(]?(?:(?:today|yesterday)(?: at)? )?\d{1,2}:\d\d(?::\d\d)?(?: ?[ap]m)?[\])]?:?$",
    r"^\[?\d{1,2}:\d\d(?::\d\d)?(?: ?[ap]m)?\]?[ -]+<?[\w.@ -]{1,30}>?:",
    r"^<[\w.@-]+> |^<[A-Za-z][^<>]*>$|^#{1,6} \S|^(?://|/\*|<!--|\"\"\")",
    r"^on .{4,80} wrote:$|^-* ?(?:begin )?(?:original|forwarded) message",
    r"^home [>›»/] |^(?:[\w.-]+(?: [\w.-]+)? [>›»] ){2}|^[^|.!?`]{3,80} [|·] [^|.!?`]{2,40}$",
    r"^(?:skip to (?:main )?content|table of contents|last (?:updated|modified|edited)|published on|posted (?:on|by)"
    r"|\d+ min(?:utes?)? read|edit this page|on this page|all rights reserved|©)",
    r"^(?:meeting (?:notes|minutes)|minutes of|(?:stand-?up|retro|sync) notes|notes from)\b",
    r"\b(?:opened|commented|replied|posted|asked|answered)\b.{0,40}\bago\b|\bopened this (?:issue|pull request)\b",
    # what Cursor sends when a person starts a plan
    r"^implement the (?:plan as specified(?:, it is attached|\. to-do)|following to-dos from the plan)\b",
    # a list in which each item has a bold title, as agents write it
    r"^\W{0,4}\*\*[^*\n]{3,80}(?::\*\*|\*\*:)",
    # an agent's thoughts or its answer
    r"\byou'?re (?:absolutely |completely )?right to\b|^your (?:comment|question|point|concern)\b.{0,80}\bsuggests\b",
    r"^(?:the user(?:'s)? \w+|you'?re (?:absolutely|completely|right to|raising|bringing up|making a|asking (?:about|me))"
    r"|you(?:'ve)? (?:raised?|made?) an? |let me (?:analy[sz]e|examine|reflect|think (?:through|more|about (?:what|how))))\b",
)
# Lines of which two show a paste: headers of e-mails, tickets and notes, greetings, farewells.
SIGNS_OFF = caseless(
    r"^(?:thanks|thank you|cheers|best|regards|(?:best|kind|warm) (?:regards|wishes)|sincerely|yours)(?:,|, [\w .-]{2,30}|!? ?[–—-] ?\w+)?$"
    r"|^--$"
)
SIGNS = caseless(
    r"^\W{0,4}(?:from|to|cc|sent|date|subject|title|reporter|reported by|author|assignee|assigned to|owner|labels|milestone"
    r"|body|description|status|priority|severity|component|environment|affects|version|type|project|created|updated"
    r"|attendees|participants|present|agenda|topic|minutes|notes|summary|decisions?|action items|next steps"
    r"|steps to reproduce|(?:expected|actual)(?: behaviou?r| results?)?|acceptance criteria|comments?|resolution|due)\W{0,2}:"
    rf"|^(?:hi|hello|hey|dear|good (?:morning|afternoon))(?: \w+){{0,3}}[,!]$|^\[?[A-Z]{{2,10}}-\d+\b|{SIGNS_OFF.pattern}"
)
# The start of a paragraph by which a person replies to a paste.
REPLIES = caseless(
    r"(?:so|ok(?:ay)?|no|nope|yes|hmm|anyway|ignore|(?:the )?above|can you|could you|is (?:this|that|it)|are (?:these|those)"
    r"|what (?:does|do|is|should)|why (?:does|do|is)|does (?:this|that|he|she|it)|in our case|for us|given (?:this|that)"
    r"|based on (?:this|that)|that'?s what)\b"
)
# Lead-ins of a sentence, which are left out of a title.
LEAD_IN = (
    r"(?:actually|please|and|but|so|also|then|from now on|going forward|as agreed|recall that|hey|ah|oh|hmm|nah|wait)[,:.!\s]+"
    r"|(?:ok(?:ay)?|agreed|decision|decided|yes|yep|yup|yeah|good|great|nice|perfect|right)(?:[,:;.!]+| [–—-])\s*"
    r"|(?:no|nope|wrong|well|nein|nee|non|não)(?:[,;.!]+| [–—-])\s*"
)
LEAD_INS = caseless(rf"^(?:{LEAD_IN})+")
MARKERS = caseless(
    rf"^(?:{LEAD_IN}"
    r"|(?:remember(?: this| for (?:next time|later|the future))?|keep in mind|bear in mind|(?:don't|do not) forget"
    r"|for the record|for (?:future|later) reference|(?:make|take) a note|note (?:to self|for (?:later|next time)))(?:[:,]? that\b|[:,]| to\b)\s*)+"
)

CHOOSING = caseless(
    r"^(?:we|i|the team)(?:'ve| have)? (?:finally |all )?(?:decided|agreed|opted)(?: to| on| for| that)? |^let's (?!not)"
    r"|^i (?:meant|think|guess|feel like|feel that)(?: that)? (?=we|you|it|the|this|there)"
)
# The words of a question that an answer takes the place of: "Who may …?", "Which runner do you …?"
ASKS_WHO = caseless(
    r"(?:(?:and|so) )?who (?=(?:may|can|must|should|is|has|gets|will)\b)"
)
ASKS_WHICH = caseless(
    r"(?:(?:and|so) )?(?:which|what) (?!of\b)((?:(?!(?:do|does|did|is|are|should|shall|would|will|can|could|to)\b)[\w-]+ ?){1,3})\b"
)
# a title ends before these
REASONS = re.compile(r" because | since | so that |, so |, which |; | [-–—] ")
CLAUSES = caseless(
    r"(?:[,;:]|\.\.+| -+| [–—]|\?!?|!) (?![^`]*`[^`]*(?:`[^`]*`[^`]*)*$)| \((?=\w)|\) "
    r"| (?=but |and (?:then|also|we|you|i|it|never|always)\b)"
)
DEPENDS = caseless(  # a clause that says nothing without another one
    r"(?:even|since|because|if|when|while|although|though|unless|until|as|that|which|who|where|otherwise|just to"
    r"|(?:but|and|or) (?!please|we|you|i|it|then|also|always|never))\b"
)
# Pairs of a choice and its alternative: "pnpm, not npm", "Postgres instead of MySQL", "apsw over sqlite3".
PAIR = re.compile(
    r"([\w.@-]{2,30})(?:, (?:not|never)|,? (?:instead of|rather than|over|in favou?r of))(?: in| to| the"
    r"| an?)? ([\w.@-]{2,30})"
)

# A command of two words in a rule: "use make suite", "run `npm test`"; and a file name.
COMMANDS = caseless(
    r"\b(?:use|run|call|with|via) `?((?:make|just|npm|pnpm|yarn|bun|cargo|go|uv|poetry|mix|rake|gradle|docker|git)"
    r"(?: run)? (?!(?:sure|it|the|a|an|one|this|that|here|there|instead|for|in|to|not|never|and|or)\b)[a-z][\w:-]{1,30})"
)
FILES = caseless(r"(?<![\w.-])[\w-]{2,30}\.[a-z][a-z0-9]{0,7}\b(?=$|[\s,;:`)])")

# An order with its verb and the words after it: "never run …", "stop adding …", "use …"
ORDER = caseless(
    r"(?:\b(?:never|do(?:n['’]?t| not)|must(?: not|n['’]t)?|stop|always) (?:ever |just |also )*"
    r"|(?:^|[,;:.] |\band )(?=(?:use|prefer|avoid|no)\b))([a-z-]+) ([^,;:!?()]{2,80})"
)
USES = caseless(r"(?:us(?:e|ing)|prefer|avoid|no|import|call)$")
# words before the name of a thing that are no part of it
PLAIN = word_set(
    "a an the any all our my your this that these those to bare plain raw new own single"
)
# "… before every commit": the work at which a rule applies
OCCASION = caseless(
    r"\b(?:before|after|when|whenever|if|while|during|on each|on every) ([^,;:.]{2,60})"
)

PROGRAMS = (
    r"(?:pytest|tox|jest|vitest|rspec|npm|npx|pnpm|yarn|bun|cargo|uv|poetry|pip|git|rm|docker|kubectl|terraform|gradle|mvn"
    r"|rake|tsc|eslint|prettier|ruff|mypy|alembic|psql|curl|ssh|go(?= (?:build|get|mod|run|test)\b)"
    r"|(?<=run )(?:make|just) (?!(?:sure|it|the|an?|this|that)\b)[\w-]+)\b(?![/-]|\.\w)"
)
COMMAND_SPAN = re.compile(r"`([\w./-]{2,40}(?: [^`()<>|]{1,60})?)`")
STARTS_PROGRAM = caseless(PROGRAMS)
# "If you change Rust dependencies (`Cargo.toml` or `Cargo.lock`), run …": what comes until the comma is changed
WHEN_CHANGED = caseless(
    r"\b(?:if|when|whenever|after|before|while) (?:you(?:['’]re| are| have)? )?(?:ever )?"
    r"(?:add(?:ing|ed)?(?: to)?|chang(?:e|ing|ed)|edit(?:ing|ed)?|modif(?:y|ying|ied)|touch(?:ing|ed)?|updat(?:e|ing|ed)) "
    r"((?:\([^()]{0,200}\)|[^,;:()]){1,200})"
)
TOGETHER = caseless(r"\b(?:together|in (?:sync|step))\b")
AND_FILE = caseless(r",? (?:and|or|nor|und|oder|noch|y|ni) |, ")


@record
class GuardWords:
    """Patterns of one language: the words before a command or a file that a rule forbids, and the command or the file."""

    forbids: re.Pattern[str]
    changes: re.Pattern[str]
    command: re.Pattern[str]
    file: re.Pattern[str]


@cache
def guard_words(sentence_language: str) -> GuardWords | None:
    """Return the patterns of a language whose file has a table of guards; None for other languages."""
    table = languages().get(sentence_language, {}).get("guards")
    if not table:
        return None
    # a name ends a clause, or one of these words comes after it: "npm packages" and "client/server code" name other things
    ends = rf"(?=\W*$|\s?[,;:!?()–—]|\. | (?:{table['ends']})\b)"
    command = caseless(
        rf"({PROGRAMS}(?: (?:add|apply|build|checkout|ci|clean|commit|compose|delete|deploy|destroy|exec|fmt|get|install"
        r"|merge|migrate|prune|publish|pull|push|rebase|reset|restore|revert|run|start|stash|test|up|down|update)\b)?"
        rf"(?: --?[\w-]{{1,30}})*){ends}"
    )
    # a path with a slash, or a name with a usual extension
    file = re.compile(
        r"`?(?<![\w.@/:-])([\w@*.-]{1,60}/[\w@.*/-]{0,140}|[\w@*-]{1,60}\.(?:mdx?|txt|json|ya?ml|toml|lock|ini|cfg|conf"
        rf"|sql|py|[jt]sx?|s?css|html|go|rs|rb|java|kt|swift|[ch]|cpp|cs|php|sh|xml|csv|tf|proto|graphql))(?<!\.)`?{ends}"
    )
    return GuardWords(
        caseless(table["forbids"]), caseless(table["changes"]), command, file
    )


# The work that a rule is about: "Run the tests" in "Run the tests with pnpm, never with npm".
WORK = caseless(
    r"(?!(?:use|prefer|avoid|never|always|do|don't|no|not|we|our|the|a|an|this|all|every|each|keep)\b)"
    r"([a-z]+(?: (?!(?:is|are|was|were|has|have|must|should|will|can)\b)[\w-]+){2,4}?)(?=,| (?:with|using|in|on|by|via|from|before|after|only|never|not|instead|through|as)\b)"
)

# Words that introduce a statement and do not name its subject.
ANNOUNCING = word_set(
    """
    actually agreed always bug called cause caused chose chosen decide decided decision defined fixed holds live
    lives never nope opted picked prefer preference promised rather reason registered repo settled settles
    solved standardised standardized team told turned turns undo wrong
    """
)
# start of conditions
WORKING_WITH = "When working with"
WORKING_ON = "When working on"
ASKED = "When asked:"
THIS_FILE = caseless(r"\b(?:this|that|the same) (?:file|script|page|doc(?:ument)?)\b")
# a word that stands for what was said before: "don't do that again", "the same for …"
POINTS = caseless(
    r"\b(?:that|this|it|them|those|these|so|the same)\b(?=\W*$|[.,;!?)]| (?:again|any ?more|here|now|too|either|please|for|without|unless|ever)\b)"
)
