"""English cues. No pattern has nested repetition, and all are applied to texts of limited length only."""

from __future__ import annotations

import re

from ..model.entries import CORRECTION, DECISION, PREFERENCE, RULE
from ..text.language import word_set
from .cues import Cue, any_of

NEGATED = r"(?:n't|nt| not)"
# Not after these words: "it never shows up", "I don't have it" and "they always fail" tell something, and rule nothing.
NOT_TOLD = "".join(
    rf"(?<!\b{word} )"
    for word in (
        "i",
        "it",
        "they",
        "he",
        "she",
        "that",
        "this",
        "which",
        "will",
        "would",
        "has",
        "have",
        "was",
        "but i",
    )
)
CUES = (
    Cue(
        "never or always",
        1.2,
        any_of(
            rf"{NOT_TOLD}\b(?:never|always|must(?: not|n't)|avoid)\b",
            rf"{NOT_TOLD}\bdo{NEGATED}\b(?! \w+ (?:yet|now)\b)(?! (?:know|understand|see|remember|care|think|have|need))",
        ),
        RULE,
    ),
    Cue(
        "for the future",
        1.3,
        any_of(
            r"(?:^|[.!?;,(—-] ?)(?:please |and |so |but )*remember(?! to\b)\b",
            r"\b(?:note that|from (?:now|here) on|next time|in (?:the )?future|going forward)\b",
            r"\b(?:every time|no longer|any ?more)\b",
            r"\bmake sure (?:you|to|that|we|it)\b",
            r"\bwe (?:moved|switched|migrated|went) (?:back )?(?:from|to|away)\b",
        ),
        RULE,
    ),
    Cue(
        "prefers",
        1.0,
        any_of(
            r"\b(?:pref+er+|rather|instead|should be|supposed to|should (?:only|just)|belongs? (?:in|to|under))\b"
        ),
        PREFERENCE,
    ),
    Cue(
        "decides",
        1.0,
        any_of(
            r"\blet'?s (?:just |only |also |then )?(?:use|keep|not|disallow|allow|remove|drop|rename|switch|stick|combine"
            r"|always|never|avoid|stop)\b",
            r"\b(?:we'll|we will|i'll|we are going to) (?:use|keep|go with|stick)\b",
            r"\b(?:go|going|stick) with\b",
            r"\bdecided\b",
        ),
        DECISION,
    ),
    Cue(
        "corrects",
        1.0,
        any_of(
            r"(?<!i'm )(?<!am i )\b(?:wrong|incorrect|not (?:true|right|correct)|you (?:forgot|missed|broke|should have|keep"
            r"|still))\b|^actually\b",
            rf"\b(?:why (?:did|do|are|would) (?:you|we)|should{NEGATED} (?:we|you|it|this)|is{NEGATED} (?:that|it"
            rf"|this))\b",
            r"^(?:no|nope)\b(?! (?:problem|worries|idea|need|rush))",
            r"(?-i:\bNO\b|\bNOT\b)",
            r"\b(?:stop|quit) \w+ing\b",
            rf"\bi (?:did|do){NEGATED} (?:ask|want|think|mean|say|like|love)\b|\bi (?:said|told|asked|meant)\b",
            r"\b(?:undo|undoing|revert|put (?:it|that) back|not what i)\b",
            r"\bdo(?:n't|es ?n't| not) think\b",
        ),
        CORRECTION,
    ),
    Cue(
        "names what you did",
        1.0,
        any_of(
            r"\byou(?:'re| are|'ve been| were) (?:still |again |always |just |now )?(?!going|being|asking|wondering|looking"
            r"|thinking|talking|right)\w+ing\b",
            rf"\byou (?:just |also |still |again )*(?:(?:did|have|had|were|are|do|would){NEGATED}|skipped|ignored|overlooked|ran)\b",
            r"\byou (?:just |also |again )*(?:\w+ed|made|put|wrote|left|took|went|gave|built|cut) [^.?!\n]{2,80}"
            r"(?:, not|\bnot in|\binstead of|\brather than|\bagain|\bwithout|\beven though)\b",
            r"\bwhat are you doing\b|\bwho (?:asked|told) you\b|\bi never (?:asked|said|told)\b",
        ),
        CORRECTION,
    ),
    Cue(
        "wants it written down",
        1.0,
        any_of(
            r"\b(?:note|add|put|document|record|write|update|mention)\b[^.?!\n]{0,60}\b(?:claude|agents|gemini)\.md\b",
            r"\b(?:make|take|add) a (?:note|rule)\b",
        ),
        RULE,
    ),
    Cue(
        "directs",
        1.0,
        any_of(
            rf"\byou (?:should(?:{NEGATED})?|must|need to|have to|are to|can always|may (?:not|only))\b",
            r"\bask (?:me )?(?:first|before)\b|\bunless (?:i|explicitly|told)\b|\bwithout (?:my|asking|me)\b",
        ),
        RULE,
    ),
    Cue(
        "we",
        0.9,
        any_of(
            r"\bwe (?:use|want|need|never|keep|should|always|do(?:n't| not)|have to|must|can)\b"
        ),
        DECISION,
    ),
    Cue("wants", 0.8, any_of(r"\bi(?:'d| would)? (?:want|like|expect|need)\b"), PREFERENCE),
    Cue(
        "gives a reason",
        0.6,
        any_of(r"\b(?:because|'?cause|cuz|so that|otherwise|since|the reason)\b"),
    ),
    Cue(
        "documents",
        0.5,
        any_of(
            r"\b(?:claude|agents|gemini)\.md\b|\b(?:memory|docs|documentation|readme"
            "|changelog)\b"
        ),
    ),
    Cue(
        "contrasts",
        1.2,
        any_of(r"\buse \S+(?: \w+){0,3},? not \S", r"\bnot (?:in|on|with|from|at|to) \S+\W*$"),
        RULE,
    ),
    Cue(
        "restricts",
        0.4,
        any_of(r"\b(?:only|just)\b|, not\b|\ball (?:\w+ ){0,2}\w+s\b|\b(?:each|every)\b"),
    ),
    Cue(
        "hesitates",
        -0.3,
        any_of(
            r"\b(?:maybe|perhaps|probably|not sure|wondering|what do you think|i do(?:n't| not) (?:understand|know)|confused"
            r"|am i|correct me|how come|i (?:thought|understood|wonder|suspect|guess)|if i'?m not mistaken|its? possible)\b"
        ),
    ),
    Cue(
        "shouts",
        0.4,
        re.compile(r"\b[A-Z]{2,}(?: [A-Z]{2,}){1,5}\b|\b(?:MUST|NEVER|ALWAYS|DON'?T|ALL|ONLY)\b"),
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
    r"\b(?:want me to|shall (?:i|we)|should i|would you like|do you want|let me (?:know|look|check)|say the word"
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
CONTINUES = re.compile(r"(?:that|this|it|so|these|those|they|otherwise)\b", re.IGNORECASE)
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
SHORT_ASK = re.compile(
    r"^(?:please )?(?:check|look|show|explain|tell|describe|list|what|where|how|who|which|can you|could you|do you"
    r"|is there)\b",
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
    r"^(?:we|i|the team)(?:'ve| have)? (?:finally |all )?(?:decided|agreed|opted)(?: to| on| for| that)? |^let's (?!not)",
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
