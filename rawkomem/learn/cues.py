"""English cues. No pattern has nested repetition, and all are applied to texts of limited length only."""

from __future__ import annotations

import re

from ..model.entries import CORRECTION, DECISION, PREFERENCE, RULE
from ..model.values import record
from ..text.language import word_set


@record
class Cue:
    """A pattern in a person's words, the score that a match adds, and the kind of draft that it suggests."""

    name: str
    weight: float
    pattern: re.Pattern[str]
    kind: str = ""  # empty: any kind


def any_of(*patterns: str) -> re.Pattern[str]:
    """Return one pattern that matches any of the patterns, in upper or lower case."""
    return re.compile(
        "|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE | re.MULTILINE
    )


# Not after these words: "it never shows up", "I don't have it" and "they always fail" tell something, and rule nothing.
# A question, also without its mark; and one that states an opinion: "Shouldn't we use jest?", "one is enough, right?"
ASKS = re.compile(
    r"\?\W*$|^(?:\W|(?:so|and|but|ok(?:ay)?|also|now)\b)*(?:how|what|why|where|who|which|can|could|should|do|does|did|is|are) "
    r"(?:should|shoud?l|can|could|did|do|does|is|are|would|will|about|we|you|i|it|this|that|the|there)\b",
    re.IGNORECASE,
)
OPINION = r"\bwhat are you doing\b|\bshould(?:n't|nt| not) (?:we|you|it|this|that|they)\b|\b(?:right|correct|ok|no)\W*\?$"
TELLERS = "i it they he she that this which who will would has have was were"
NOT_TOLD = "".join(rf"(?<!\b{word} )" for word in TELLERS.split())
CUES = (
    Cue(
        "never or always",
        1.2,
        any_of(
            # "the canvas never appears" and "is always visible" describe something
            rf"{NOT_TOLD}(?<!\bis )(?<!\bare )(?<!\bnot )(?<!\bus )\b(?:never|always)\b(?! \w*[^s\W](?:s|ed)\b)",
            rf"{NOT_TOLD}\b(?:must(?: not|n't)|avoid)\b",
            rf"{NOT_TOLD}\bdo(?:n't|nt| not)\b(?! (?:know|understand|see|remember|care|think|have|need|forget|you|we|worry))",
        ),
        RULE,
    ),
    Cue(
        "for the future",
        1.3,
        any_of(
            r"(?:^|[.!?;,(—-] ?)(?:please |and |so |but )*(?:remember|recall)(?: that\b|,)",
            r"\b(?:note that|from (?:now|here) on|next time|in (?:the )?future|going forward)\b",
            r"\bwe (?:no longer\b|do(?:n't| not) [^.?!\n]{2,60}\bany ?more\b)",
            r"^(?:\W|(?:please|also|then|and)\b)*make sure (?:you|to|that|we|it)\b",
            r"\bwe (?:moved|switched|migrated|went) (?:back )?(?:from|to|away)\b",
        ),
        RULE,
    ),
    Cue(
        "prefers",
        1.0,
        any_of(
            r"\b(?:pref+er+e?|rather|instead|should be(?! (?:able|ready|fine|good|working|done)\b)|supposed to|should (?:only|just)|belongs? (?:in|to|under))\b"
        ),
        PREFERENCE,
    ),
    Cue(
        "decides",
        1.0,
        any_of(
            r"\blet'?s (?:just |only |also |then )?(?:use|keep(?! (?:moving|going|working)\b)|not|disallow|allow|remove|drop|rename|switch|stick|combine"
            r"|always|never|avoid|stop)\b",
            r"\b(?:we'll|we will|i'll|we are going to) (?:use|keep|go with|stick)\b",
            r"\b(?:go|going|stick) with\b(?! (?:option|your|the (?:first|second|third|last)|it|that|this|whatever)\b)",
            r"\bdecided\b",
        ),
        DECISION,
    ),
    Cue(
        "corrects",
        1.3,
        any_of(
            r"(?<!let )\byou (?:forgot|missed|broke|should have|keep|still)\b",
            r"\bi (?:did|do)(?:n't|nt| not) (?:ask|want|mean|say)\b|\bi (?:said|told you|meant)\b|\bnot what i\b",
            r"(?:^|[.!?,;:] |please |just |you (?:should|must|need to) )(?:stop|quit) \w+ing\b",
        ),
        CORRECTION,
    ),
    Cue(
        "objects",
        1.0,
        any_of(
            r"(?<!i'm )(?<!am i )\b(?:wrong|incorrect|not (?:true|right|correct))\b",
            r"\bshould(?:n't|nt| not) (?:we|you|it|this|that)\b",
            r"^(?:no\b(?=[,.!–—-]| (?:use|do|don'?t|never|always|put|keep|just|please|only|leave|make|run|remove|add)\b)"
            r"|(?:nope|nah|stop|wait)\b)[,.!\s–—-]+(?!(?:i|i'?m|i'?ve|we|it|it's|that|that's|this|the|you|they|there|sorry|problem"
            r"|worries|idea|need|rush|let'?s|but|so|not|these|those|my|our|what|why|how|a|an"
            r"|again|actually|yes|ok|okay|and)\b)[\w`]",
            r"\bdo(?:n't|es ?n't| not) (?:think|believe) \w+ (?:need|should|is|are)\b",
        ),
        CORRECTION,
    ),
    Cue(
        "forbids",
        1.4,
        any_of(r"^no (?!more|need|problem|new|other|further)[\w-]+ [\w-]+s\W*$"),
        CORRECTION,
    ),
    Cue(
        "names what you did",
        1.0,
        any_of(
            r"(?<!when )(?<!while )(?<!if )(?<!what )\byou(?:'re|(?<!^you) are|'ve been| were) (?:still |again |always |just |now )?(?!going|being|asking|wondering|looking"
            r"|thinking|talking|saying|proposing|suggesting|right)\w+ing\b",
            r"\byou (?:just |also |still |again )*(?:(?:did|have|had|were|are|do|would)(?:n't|nt| not)|skipped|ignored|overlooked|ran)\b",
            r"\byou (?:just |also |again )*(?:\w+ed|made|put|wrote|left|took|went|gave|built|cut) [^.?!\n]{2,80}"
            r"(?:, not|\bnot in|\binstead of|\brather than|\bagain|\bwithout|\beven though)\b",
            r"\bwhat are you doing\b|\bwho (?:asked|told) you\b|\bi never (?:asked|said|told)\b",
        ),
        CORRECTION,
    ),
    Cue(
        "dislikes",
        1.2,
        any_of(
            r"\bi (?:really |just |also )?(?:hate|dislike|resent|do(?:n't|nt| not) (?:like|love|appreciate))\b",
            r"\b(?:bothers|annoys) me\b|\b(?:tired|sick) (?:of|by)\b",
        ),
        CORRECTION,
    ),
    Cue(
        "wants it written down",
        0.8,
        any_of(
            r"\b(?:note|add|put|document|record|write|mention)\b[^.?!\n]{0,60}\b(?:claude|agents|gemini)\.md\b",
            r"\b(?:make|take|add) a (?:note|rule)\b",
        ),
        RULE,
    ),
    Cue(
        "directs",
        1.0,
        any_of(
            r"\byou (?:should(?:n't|nt| not)?|must|need to|have to|are(?: not)? to|can always|may (?:not|only))\b",
            r"\bask (?:me )?(?:first|before)\b|\bunless\b|\bwithout (?:my|asking|me)\b",
        ),
        RULE,
    ),
    Cue(
        "we",
        0.9,
        any_of(r"\bwe (?:use|never|keep|always|do(?:n't| not)|must|want)\b"),
        DECISION,
    ),
    Cue("we should", 0.6, any_of(r"\bwe (?:need|should|have to|can)\b"), DECISION),
    Cue(
        "wants",
        0.8,
        any_of(r"(?<!what )\bi(?:'d| would)? (?:want|expect|need)\b(?! you to)"),
        PREFERENCE,
    ),
    Cue(
        "gives a reason",
        0.6,
        any_of(r"\b(?:because|'?cause|cuz|so that|otherwise|since|the reason)\b"),
    ),
    Cue(
        "contrasts",
        1.2,
        any_of(
            r"\buse \S+(?: \w+){0,3},? not \S",
            r"\bnot (?:in|on|with|from|at|to) \S+\W*$",
        ),
        RULE,
    ),
    Cue(
        "restricts",
        0.4,
        any_of(
            r"\b(?:only|just)\b|, not\b|\ball (?:\w+ ){0,2}\w+s\b|\b(?:each|every)\b"
        ),
    ),
    Cue(
        "shouts",
        0.4,
        re.compile(
            r"\b[A-Z]{2,}(?: [A-Z]{2,}){1,5}\b|\b(?:MUST|NEVER|ALWAYS|DON'?T|ALL|ONLY)\b"
        ),
    ),
    Cue("asks", -1.5, any_of(rf"^(?!.*(?:{OPINION})).*(?:{ASKS.pattern})")),
    Cue("asks for an opinion", -0.4, any_of(rf"(?:{OPINION}).*\?\W*$|(?:{OPINION})")),
    Cue(
        "is short",
        -0.8,
        any_of(r"^(?!.*\b(?:prefer|use|avoid|never|always)\b)\W*(?:\S+\s+){0,2}\S*$"),
    ),
    Cue(
        "names nothing",
        -1.0,
        any_of(
            r"^(?:\W|\b(?:that|this|it|is|are|s|was|actually|still|just|not|all|right|wrong|correct|true|no|so|but|what|i|meant)\b)+$"
        ),
    ),
    Cue(
        "hesitates",
        -0.5,
        any_of(
            r"\b(?:maybe|perhaps|probably|not sure|wondering|what do you think|i do(?:n't| not) (?:understand|know)|confused"
            r"|am i|correct me|how come|i (?:thought|understood|wonder|suspect|guess)|if i'?m not mistaken|its? possible)\b"
        ),
    ),
    Cue(
        "holds for this moment",
        -1.0,
        any_of(
            r"\byet(?=\W*$|[.,;!?)])|(?<!from )\bnow\b(?! on)|\b(?:for now|at (?:this|the) (?:time|moment|point)|today|tonight|this (?:once|time|session|commit)"
            r"|in the meantime|later|until (?:we|i|you)|first,? let|(?:do not|don'?t) forget)\b|\bphase\b"
            r"|\b(?:do not|don'?t) (?:write (?:any )?code|run any|change any|move past|start|implement|take (?:any )?action|do any)"
        ),
    ),
    Cue(
        "is about one case",
        -0.4,
        any_of(
            r"\bthat (?:file|change|one|commit|part|thing|line|case|step|name|version|idea|update|bug|issue|error|test)\b",
            r"\b(?:this|these|those) (?!is|was|are|were|way|kind|type|sort|means?|would|should|will|does|do|has|have|can"
            r"|could|in|on|to|for|if|when|we|you|i|it|they|the|a|an|there)(?-i:[a-z]+)\b(?![(_.])",
            r"\b(?:do|did|done|fix|fixed|reproduce) (?:it|that|this|them)\b",
            r"\b(?:it|them|this|that)\W*$|^(?:it|this|that|they|those|these) ",
        ),
    ),
    Cue(
        "is a task",
        -0.8,
        any_of(
            r"^(?:\W|(?:no|nope|nah|wait|ok|okay|yes|and|so|now|then|also|please|plz|just|let'?s|you can)\b)*(?:review|check|look|think|run|commit"
            r"|proceed|continue|finish|explain|show|tell|fix|go (?:on|ahead)|try|find|do(?!:)|prepare|take|see|create|implement"
            r"|address|update|add|start|break|dive|walk|work|revisit|figure|debug|dig|give|write|get|keep (?:moving|going|working)|reflect|analy[sz]e|read|push|apply|correct|improve|clean|move|consider|propose|note|document)\b(?!n't| not)"
        ),
    ),
    Cue(
        "tells a story",
        -0.8,
        any_of(
            r"^(?:\W|(?:ok|and|so|but|now|also|well|actually|oh|ah)\b)*(?:i(?:'ve|'m| have| am| was| had| did| can| asked| agree"
            r"| understood| thought| see| saw| got| read| guess| recall| tried| like| went| just)\b|(?:it|this|that|one thing) (?:looks|seems|sounds|helps|might|may|was|we learned))"
        ),
    ),
)

# A request to remember something: "Remember that …". "Remember to push" is only a task of this session.
REMEMBER = (
    r"(?:remember(?: this| for (?:next time|later|the future))?|keep in mind|bear in mind|(?:don't|do not) forget"
    r"|for the record|for (?:future|later) reference|(?:make|take) a note|note (?:to self|for (?:later|next time)))"
)
REQUEST = re.compile(
    r"(?:^|(?<=[.!?;] ))(?:(?:and|also|but|so|please|ok(?:ay)?|now|then|oh)[, ]+)*(?:please )?"
    rf"{REMEMBER}(?: that |: (?:that )?|, that | (?=to (?:always|never)\b))(\S.{{11,}})",
    re.IGNORECASE | re.MULTILINE,
)

AGREES = re.compile(
    r"^(?:ok(?:ay)?\W+)?(?:yes|yep|yup|yeah|agreed|exactly|good (?:idea|call|point)|sounds (?:good|great|right)"
    r"|makes sense"
    r"|that'?s (?:right|fine|good|it|correct)|do (?:it|that|so)|go (?:ahead|for it|with)|ship it|lgtm|please do"
    r"|love it|i agree"
    r"|you'?re right|implement (?:it|that|this|option)|option \w\b|the (?:first|second|third|latter|former)\b)",
    re.IGNORECASE,
)
NODS = re.compile(  # an agreement, unless a word after it starts the next request
    r"^(?:ok(?:ay)?|sure|fine|great|perfect|right|correct|good|cool|nice)\b(?!\W+(?:now|let|next|so|then|what|can)\b)",
    re.IGNORECASE,
)
OBJECTS = re.compile(
    r"^(?:no|nope|nah|wait|stop|hmm|hold on|wrong|actually|but|not (?:quite|really|that|yet)|don'?t|that'?s (?:not"
    r"|wrong)"
    r"|why|isn'?t|shouldn'?t|are you sure|really\?)\b|\b(?:disagree|that'?s wrong|undo|revert|don'?t think)\b",
    re.IGNORECASE,
)
QUALIFIES = re.compile(  # restricts or takes back an agreement
    r"\b(?:no(?! (?:problem|worries|need|rush))|nope|not|but|stop|wait|except|never|don'?t|isn'?t|won'?t|doesn'?t)\b",
    re.IGNORECASE,
)
SENTENCE_END = re.compile(r"[.!?]\s|\n")
REASON = re.compile(
    r",? (?:because|'?cause|cuz|since|so that)\b", re.IGNORECASE
)  # a quote may end before it
TAKEN_BACK = re.compile(  # a sentence that takes back the one before it
    r"(?:(?:but|and|well|no)[,.!]?\s+){0,2}(?:"
    r"(?:that|this|it|these|those|which)(?:'s| is| was| are| were)(?: \w+){0,2} (?:what|how|the way|something)\b"
    r"[^.!?]{0,60}?(?:\b(?:not|never|cannot|avoid|stop)\b|n't\b)"
    r"|(?:that|this|it|these|those|which)(?:'s| is| was| are| were)(?: \w+){0,2} (?:wrong|false|forbidden|banned|obsolete"
    r"|outdated|not (?:true|right|allowed|ok(?:ay)?)|no longer (?:true|right|allowed)|a mistake)(?: here| now| any ?more)?(?:[.!,;]|$)"
    r"|(?:please )?(?:never|don't|do not|you must not|stop) (?:ever )?(?:do|doing|say|want|accept) (?:that|this|it|so)\b"
    r"|(?:wrong|false|not|not true|never|(?:just )?kidding|scratch that|forget (?:that|it))(?: again)?(?:[.!,]|$))",
    re.IGNORECASE,
)
ASSENT = re.compile(  # words of an answer that name no action of their own
    r"\b(?:ok(?:ay)?|yes|yep|yup|yeah|sure|fine|great|perfect|right|correct|good|cool|nice|agreed|exactly|idea|call|point"
    r"|sounds|makes? sense|that'?s|it|ship|lgtm|please|love|agree|you'?re|implement|option|first|second|third|latter"
    r"|former|go|ahead|do|so|way|both|all|approach|plan|suggestion|recommendation|proceed|thanks?|thank you|absolutely"
    r"|definitely|of course|now|let'?s|like|apply|make)\b",
    re.IGNORECASE,
)
# An agent's statement that becomes a draft if the person agrees to it.
PROPOSES = re.compile(
    r"\b(?:recommend\w*|propos\w*|suggest\w*|option|approach|should|instead|rather|because|always|never|only|so that"
    r"|fix"
    r"|cause|window|default|prefer\w*|convention|alongside|would)\b",
    re.IGNORECASE,
)
OFFERS = re.compile(
    r"\b(?:want me to|shall (?:i|we)|should i|would you like|do you want|let me|say the word"
    r"|if you'?d (?:like|rather)|does that (?:sound|work)|ready to|i can|i'?ll|i will|i'?m going to|happy to)\b",
    re.IGNORECASE,
)
OFFER_WORDS = word_set("want would like know say word ready")
# An offer to act on the statement before it: "Shall I do that?". "… for this task" names something else.
REFERS = re.compile(
    r"\b(?!for|in|on|to|with|of|at|about|from|into)\w+ (?:it|this|that|these|those|them|so|option|ahead)\b|\bproceed\b"
    r"|\bthat (?:sound|work|way|shape)|#\d",
    re.IGNORECASE,
)
CONTINUES = re.compile(
    r"(?:that|this|it|so|these|those|they|otherwise)\b", re.IGNORECASE
)
EXPLAINS = re.compile(
    r"\b(?:because|caused by|root cause|the (?:issue|problem|cause|bug|culprit|fix|reason) (?:is|was)|due to"
    r"|turns? out"
    r"|turned out|came from|stems? from|which is why)\b",
    re.IGNORECASE,
)
# A line before somebody else's words: "The README says:".
LEADS_IN = re.compile(
    r"\b(?:says?|said|suggest(?:s|ed)?|wr(?:ites?|ote)|report(?:s|ed)?|prints?|printed|returns?|complains?|shows?"
    r"|told me|sent"
    r"|got|get|getting|see|seeing|output|log|error|trace|readme|vendor|documentation|ticket|e-?mail|slack|article"
    r"|page"
    r"|comments?|reviewer|review|copilot|coderabbit|reply|replied|message|transcript|summari[sz]e|translate"
    r"|proofread|explain"
    r"|address|from the|quote|snippet|paste|below|following)\b[^:]{0,80}:\s*$|\b(?:this|these):\s*$"
    r"|\b(?:(?:text|content|copy|details|message|mail|log|output|transcript|notes|page|ticket|issue) (?:follows|below)"
    r"|(?:see|pasted|copied) below)\W*$",
    re.IGNORECASE,
)
# A rule that a person states as a quotation: "Follow this rule:" and a line "> Never use grep."
QUOTED_RULE = re.compile(
    r"^([^>\n]{0,200}\b(?:rule|convention|guideline|from now on)\b[^:>\n]{0,40}:) *\n+> ?([^\n]+)",
    re.IGNORECASE | re.MULTILINE,
)
# Words before somebody else's, in the same line: "translate to German: …", "the vendor said: …".
TELLS = re.compile(
    r"\b(?:translate|summari[sz]e|proofread|rephrase|reword|(?:review |commit )?(?:comment|message)|reply|e-?mail|snippet"
    r"|(?<!i )(?<!we )(?<!you )(?:says?|said|wrote|writes|replied|told me|reads))\b[^:.!?]{0,60}: (?=\S)",
    re.IGNORECASE,
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
    # an agent's thoughts or its answer
    r"\byou'?re (?:absolutely |completely )?right to\b|^your (?:comment|question|point|concern)\b.{0,80}\bsuggests\b",
    r"^(?:the user(?:'s)? \w+|you'?re (?:absolutely|completely|right to|raising|bringing up|making a|asking (?:about|me))"
    r"|you(?:'ve)? (?:raised?|made?) an? |let me (?:analy[sz]e|examine|reflect|think (?:through|more|about (?:what|how))))\b",
)
# Lines of which two show a paste: headers of e-mails, tickets and notes, greetings, farewells.
SIGNS_OFF = re.compile(
    r"^(?:thanks|thank you|cheers|best|regards|(?:best|kind|warm) (?:regards|wishes)|sincerely|yours)(?:,|, [\w .-]{2,30}|!? ?[–—-] ?\w+)?$"
    r"|^--$",
    re.IGNORECASE,
)
SIGNS = re.compile(
    r"^\W{0,4}(?:from|to|cc|sent|date|subject|title|reporter|reported by|author|assignee|assigned to|owner|labels|milestone"
    r"|body|description|status|priority|severity|component|environment|affects|version|type|project|created|updated"
    r"|attendees|participants|present|agenda|topic|minutes|notes|summary|decisions?|action items|next steps"
    r"|steps to reproduce|(?:expected|actual)(?: behaviou?r| results?)?|acceptance criteria|comments?|resolution|due)\W{0,2}:"
    rf"|^(?:hi|hello|hey|dear|good (?:morning|afternoon))(?: \w+){{0,3}}[,!]$|^\[?[A-Z]{{2,10}}-\d+\b|{SIGNS_OFF.pattern}",
    re.IGNORECASE,
)
# The start of a paragraph by which a person replies to a paste.
REPLIES = re.compile(
    r"(?:so|ok(?:ay)?|no|nope|yes|hmm|anyway|ignore|(?:the )?above|can you|could you|is (?:this|that|it)|are (?:these|those)"
    r"|what (?:does|do|is|should)|why (?:does|do|is)|does (?:this|that|he|she|it)|in our case|for us|given (?:this|that)"
    r"|based on (?:this|that)|that'?s what)\b",
    re.IGNORECASE,
)
# Lead-ins of a sentence, which are left out of a title.
MARKERS = re.compile(
    r"^(?:(?:actually|please|and|but|so|also|then|from now on|going forward|as agreed|recall that|hey|ah|oh|hmm|nah|wait)[,:.!\s]+"
    r"|(?:ok(?:ay)?|agreed|decision|decided|yes|yep|yup|yeah|good|great|nice|perfect|right)(?:[,:;.!]+| [–—-])\s*"
    r"|(?:no|nope|wrong|well)(?:[,;.!]+| [–—-])\s*"
    rf"|{REMEMBER}(?:[:,]? that\b|[:,]| to\b)\s*)+",
    re.IGNORECASE,
)

CHOOSING = re.compile(
    r"^(?:we|i|the team)(?:'ve| have)? (?:finally |all )?(?:decided|agreed|opted)(?: to| on| for| that)? |^let's (?!not)"
    r"|^i (?:meant|think|guess|feel like|feel that)(?: that)? (?=we|you|it|the|this|there)",
    re.I,
)
REASONS = re.compile(
    r" because | since | so that |, so |, which |; | [-–—] "
)  # a title ends before these
CLAUSES = re.compile(
    r"(?:[,;:]|\.\.+| -+| [–—]|\?!?|!) (?![^`]*`[^`]*(?:`[^`]*`[^`]*)*$)| \((?=\w)|\) "
    r"| (?=but |and (?:then|also|we|you|i|it|never|always)\b)",
    re.IGNORECASE,
)
DEPENDS = re.compile(  # a clause that says nothing without another one
    r"(?:even|since|because|if|when|while|although|though|unless|until|as|that|which|who|where|otherwise|just to"
    r"|(?:but|and|or) (?!please|we|you|i|it|then|also|always|never))\b",
    re.IGNORECASE,
)
JOINTS = re.compile(
    r" (?:because|when|if|so|that|which|to|for|with|without|in|on|of|at|from|after|before|and|or|but|as|unless|until)\b"
)

# Pairs of a choice and its alternative: "pnpm, not npm", "Postgres instead of MySQL", "apsw over sqlite3".
PAIR = re.compile(
    r"([\w.@-]{2,30})(?:, (?:not|never)|,? (?:instead of|rather than|over|in favou?r of))(?: in| to| the"
    r"| an?)? ([\w.@-]{2,30})"
)

# A command of two words in a rule: "use make suite", "run `npm test`"; and a file name.
COMMANDS = re.compile(
    r"\b(?:use|run|call|with|via) `?((?:make|just|npm|pnpm|yarn|bun|cargo|go|uv|poetry|mix|rake|gradle|docker|git)"
    r"(?: run)? (?!(?:sure|it|the|a|an|one|this|that)\b)[a-z][\w:-]{1,30})",
    re.IGNORECASE,
)
FILES = re.compile(
    r"(?<![\w.-])[\w-]{2,30}\.[a-z][a-z0-9]{0,7}\b(?=$|[\s,;:`)])", re.IGNORECASE
)

# Words after which a rule names what an agent must not do, or not before something else: "never run bare", "do not".
# "You did not run pytest" and "do not commit without running pytest" ask for the command.
FORBIDS = re.compile(
    r"(?:(?<!you )\bnever|\bavoid|\bbefore|\bstop|\binstead of|\brather than|\bno(?= `)|(?:\b(?:do|must|should)|,|\band|\() ?not"
    r"|(?<!why )(?<!\bi )(?<!you )\b(?:do|must|should)n['’]?t)"
    r"(?: (?:you|ever|to|just|directly|manually|with|via|by|an?|the|any|our|tests|bare|plain|raw))*"
    r"(?: (?:(run|running|execute|executing)|use|using|call|calling))?(?: (?:an?|the|any|tests|with|bare|plain|raw))* ",
    re.IGNORECASE,
)
PROGRAMS = (
    r"(?:pytest|tox|jest|vitest|rspec|npm|npx|pnpm|yarn|bun|cargo|uv|poetry|pip|git|rm|docker|kubectl|terraform|gradle|mvn"
    r"|rake|tsc|eslint|prettier|ruff|mypy|alembic|psql|curl|ssh|go(?= (?:build|get|mod|run|test)\b)"
    r"|(?<=run )(?:make|just) (?!(?:sure|it|the|an?|this|that)\b)[\w-]+)\b(?![/-]|\.\w)"
)
# a name ends a clause, or one of these words comes after it: "npm packages" and "client/server code" name other things
ENDS = (
    r"(?=\W*$|\s?[,;:!?()–—]|\. | (?:again|and|any ?more|are|as|at|because|but|by|change|directly|ever|except|first|for|from|here|if|in"
    r"|instead|it|manually|nor|on|or|since|so|there|this|to|unless|until|when|with|without|yourself)\b)"
)
COMMAND_SPAN = re.compile(r"`([\w./-]{2,40}(?: [^`()<>|]{1,60})?)`")
STARTS_PROGRAM = re.compile(PROGRAMS, re.IGNORECASE)
BARE_COMMAND = re.compile(
    rf"({PROGRAMS}(?: (?:add|apply|build|checkout|ci|clean|commit|compose|delete|deploy|destroy|exec|fmt|get|install|merge"
    r"|migrate|prune|publish|pull|push|rebase|reset|restore|revert|run|start|stash|test|up|down|update)\b)?"
    rf"(?: --?[\w-]{{1,30}})*){ENDS}",
    re.IGNORECASE,
)
CHANGES = re.compile(
    r"(?:(?:create |add )?or )?(?:edit|chang|modify|touch|writ|overwrit|delet|remov|renam|mov|updat|regenerat|rewrit)"
    r"(?:e|ing)?(?: (?:to|in|an?|the|any|our|all|files?|anything|under|inside))* ",
    re.IGNORECASE,
)
TOGETHER = re.compile(r"\b(?:together|in (?:sync|step))\b", re.IGNORECASE)
# a path with a slash, or a name with a usual extension; and the words between two of them
CHANGED_FILE = re.compile(
    r"`?(?<![\w.@/:-])([\w@*.-]{1,60}/[\w@.*/-]{0,140}|[\w@*-]{1,60}\.(?:mdx?|txt|json|ya?ml|toml|lock|ini|cfg|conf|sql|py"
    rf"|[jt]sx?|s?css|html|go|rs|rb|java|kt|swift|[ch]|cpp|cs|php|sh|xml|csv|tf|proto|graphql))(?<!\.)`?{ENDS}"
)
AND_FILE = re.compile(r",? (?:and|or|nor) |, ", re.IGNORECASE)

# The work that a rule is about: "Run the tests" in "Run the tests with pnpm, never with npm".
WORK = re.compile(
    r"(?!(?:use|prefer|avoid|never|always|do|don't|no|not|we|our|the|a|an|this|all|every|each|keep)\b)"
    r"([a-z]+(?: (?!(?:is|are|was|were|has|have|must|should|will|can)\b)[\w-]+){2,4}?)(?=,| (?:with|using|in|on|by|via|from|before|after|only|never|not|instead|through|as)\b)",
    re.IGNORECASE,
)

# Words that introduce a statement and do not name its subject.
ANNOUNCING = word_set(
    """
    actually agreed always bug called cause caused chose chosen decide decided decision defined fixed holds live
    lives never nope opted picked prefer preference promised rather reason registered repo settled settles
    solved standardised standardized team told turned turns undo wrong
    """
)
WORKING_WITH, WORKING_ON, ASKED = (
    "When working with",
    "When working on",
    "When asked:",
)  # start of conditions
