"""English cues: patterns by kind, and what to skip whatever it says.

All patterns are our own, without nested repetition, and meet single sentences of bounded length.
"""

from __future__ import annotations

import re

from ....text.language import word_set
from . import OUTPUT, any_of, words_of

# Parts that several cues need.
ENDINGS = "py|tsx?|jsx?|mjs|go|rs|rb|java|kt|sql|ya?ml|toml|json|sh|css|md|conf|tf"
PATH = rf"(?:\b(?!and/)[\w@.-]+/(?:[\w@./*-]*\w)?|\b[\w-]+\.(?:{ENDINGS})\b)"
VERSION = r"(?:[A-Za-z@][\w./@+-]*(?: API| LTS)? (?:v|version )?\d+(?:\.\d+)*(?:\.x)?\b)"
TROUBLE = words_of(
    r"fail(?:s|ed|ing|ure)? | errors? | bugs? | broke | broken | breaks | crash(?:ed|es)? | leak(?:ed|s|ing)? | flaky"
    r" | race | slow | hangs? | hung | time-?outs? | timed out | exceptions? | problem | issue | drops? | dropped"
    r" | lost | 50[0-4]s | (?:HTTP|status|with|an?) (?:4\d\d|50[0-4]) | stale | wrong | missing | deadlock"
    r" | conflicts? | could not | cannot | can't | exhausted | ignored | corrupt(?:ed)? | regression | saw | rejected"
    r" | refused | denied | mismatch(?:es)? | OOM | killed | kills | never ran | \w+(?-i:Error|Exception)\b"
    r" | (?-i:\bE[A-Z]{4,})"
)
CAUSE = words_of(
    r"because | caused by | due to | root cause | came from | comes? from | the (?:reason|cause|culprit) | which is why"
    r" | turned out | turns out | stems? from | was that | since (?!i\b|then\b) | boils? down to"
)
RULE = words_of(
    "must(?: not| never)? | has to | have to | should (?:always|never) | needs? to | always | never | are | is | has"
    " | have | returns? | lives? | uses? | inherits? | starts? | ends? | goes? | gets?"
)
USES = words_of(
    "requires? | required | needs? | depends? on | pin(?:s|ned)? | runs? on | runs | uses? | ships? with"
    " | must (?:stay|be) | stays? (?:on|below) | incompatible | targets? | supports? | built (?:with|against)"
    " | compatible with | upgraded? to | locked (?:to|at)"
)
PLACED = (
    "in|under|defined|implemented|handled|registered|loaded|split|located|kept|stored|generated|scheduled|declared|read"
)
LIES = words_of(
    f"lives? | (?:is|are) (?:{PLACED}) | goes? through | holds? | contains? | entry point | located | wires?"
    f" | monorepo | resides?"
)
WE = r"\b(?:we|i|they|the team|the group)(?:'ve| have)? (?:finally |all |now )?"
WE_WILL = (
    r"(?<!once )(?<!until )(?<!when )(?<!if )\b(?:let's|we'll|we will|we are going to|we're going to|we) (?:just )?"
)
DONE = "cut|published|reset|updated|regenerated|generated|built|deployed|started|released|run|created"
REMEMBER = (
    r"(?:remember(?: this| for (?:next time|later|the future))?|keep in mind|bear in mind|(?:don't|do not) forget"
    r"|for the record|for (?:future|later) reference|(?:make|take) a note|note (?:to self|for (?:later|next time)))"
)

CUES: dict[str, re.Pattern[str]] = {
    "correction": any_of(
        r"^(?:no|nope|nah)\b(?! doubt| problem| worries| idea)[,.!:;\s–—-]+\S.{12,}",
        r"^(?:that(?:'s| is)|this is|it's) (?:wrong|not right|incorrect|not (?:how|what|the way)) ?.{8,}",
        r"^(?:actually|wrong)\b.*\b(?:not|instead of|never|is called|are called)\b",
        r"^(?:please )?(?:don't|do not|stop) (?!worry|bother|forget|hesitate|need|ask|be)\w+ (?:\S+ ){2,}\S+",
        r"\byou should(?:n't| not)? have\b",
        r"\byou keep \w+ing\b|\byou (?:again )?forgot (?:again )?(?:that|to)\b",
        r"\b(?:is|are|runs?|goes?|go|lives?|live|has|have|uses?|use) .*, not (?:on|in|at|to|the|an?|with|from|by)\b",
        r"\b(?:is|are) (?:called|named) \S+, not\b",
        r"^(?:it's|that's|this is) not an? \w+, \S.{12,}",
        r"^that's the wrong \w+, \S.{12,}",
        r"\bwe (?:don't|do not|never) (?:use|do|have|want|need|write|put) .*(?:\bhere\b|\bin this\b|, use\b)",
        r"\bi(?: have|'ve)? (?:told|said|asked) (?:you )?(?:this |that )?(?:before|already|twice)\b",
        r"^(?:please )?use \S.{0,60}?,? (?:not|instead of|rather than)\b",
        r"^(?:undo|revert) (?:that|this)\b.*\b(?:we|because|never)\b",
    ),
    "decision": any_of(
        rf"{WE}(?:decided|agreed|chose|settled|opted|picked|voted|standardi[sz]ed|went with|committed to)\b",
        r"^(?:final )?(?:decision|decided|agreed|final call|verdict|resolution|ruling)\s*[:–—-]",
        rf"{WE_WILL}(?:go with|use|keep|stick (?:with|to)|switch to|move to|adopt|drop)\b"
        r"(?! \w+ing\b| (?:the|that|this) (?:second|first|other|wrong)\b| it\b)",
        r"\bwe(?:'re| are) (?:going|sticking|staying) with\b|\bwe(?:'ll| will) ship\b",
        r"^(?:going forward|from now on|from here on|as agreed|as decided)\b",
        r"^(?:ok(?:ay)?,? )?agreed[,:].{12,}",
        r"\bi(?:'ve| have)? (?:chose|chosen|picked|decided (?:on|against))\b.*\b(?:because|over|instead|since"
        r"|rather)\b",
        r"^(?:decided|agreed) (?:to|on|against)\b",
        r"\b(?:the|our) (?:outcome|conclusion|consensus|agreement) (?:is|was)\b",
        r"\bper (?:your|our|the) decision\b|\bsettles it\b",
        r"\bi want us to \w+",
    ),
    "preference": any_of(
        r"\b(?:i|we)(?:'d| would)? (?:much |really |strongly |generally )?(?:prefer|rather have)\b",
        r"\bmy preference\b|\bi (?:really )?like it when\b",
        r"\bi'd like (?!you\b|to\b|an? \b|the\b|it\b|this\b|that\b)\w+",
        r"\bi(?:'d| would) always (?:take|use|choose|pick)\b",
        r"^(?:please )?(?:don't|do not) ask (?:me )?(?:before|for|whether)\b",
        r"^keep \w+ (?:under|below|short|small|free|in)\b.{8,}",
        r"\bi (?:really )?(?:like|hate|dislike|don't like|do not like|can't stand)\b (?!that you|how you|it\b|this\b)",
        r"^(?:and |but |please )*(?:always|never) (?!good|nice|mind|ending)\w+ ",
        r"\bi (?:always |only |never )?want (?!you\b|to\b|it\b|this\b|that\b)",
        r"^please (?:keep(?! in mind)|avoid)\b",
    ),
    "commitment": any_of(
        r"\b(?:i|we)(?:'ll| will| shall) (?:always |never |personally )?(?:keep|review|support|maintain|make sure"
        r"|ensure|stop"
        r"|migrate|remove|replace|deliver)\b.*\b(?:until|before|every|each|once|by|as long as|after|whenever)\b",
        r"\b(?:we|i)(?:'ll| will) (?:ship|release)\b",
        r"\b(?:we|i)(?:'ve| have)? promised?\b",
        r"\b(?:we|i) (?:have|need) to (?:ship|deliver|finish|release|remove|migrate)\b.*\b(?:before|by|until)\b",
        r"^(?:todo|follow-up|action item)\b[^:]{0,30}:.{12,}",
    ),
    "fix": any_of(
        rf"\b{TROUBLE}\b.*\b{CAUSE}\b",
        r"\b(?:was|were) caused by\b",
        rf"\b{CAUSE}\b.*\b{TROUBLE}",
        r"\b(?:root cause|the culprit)\b",
        r"^(?:it )?turn(?:ed|s) out\b.{20,}",
        rf"^fixed:.*\b{CAUSE}\b",
    ),
    "dependency": any_of(rf"\b{USES}\b.*{VERSION}", rf"{VERSION}.*\b{USES}\b", r"\bpin(?:ned)? \S+ (?:to|at|below)\b"),
    "constraint": any_of(
        r"\b(?:does not|doesn't|do not|don't|did not|cannot|can't|can not|won't) (?:support|allow|accept|handle|exceed"
        r"|upgrade|be|run|leave|scale|guarantee|work)\b",
        r"\bnot (?:allowed|permitted|possible|supported)\b",
        r"\bnothing (?:may|must|can)\b|\b(?:legal|compliance|security) requirement\b",
        r", so .{3,60} must \w+",
        r"\b(?:has|have) to (?:keep|stay|be|fit|work) .*\b(?:at least|at most|under|below|within|offline)\b",
        r"\b(?:limit|maximum|quota|cap) (?:of|is)\b|\blimited to\b",
        r"\b(?:must|may) not .* more than\b|\bat most \d",
        r"\bonly (?:retries|allows|supports|works|accepts|runs|keeps|returns|sends|lets)\b",
        r"\bmust not (?:leave|exceed|be|store|contain|block)\b|\bmust never\b",
        r"\b(?:allows|permits) (?:at most |only |up to )?[\d,]+",
        r"\bmust (?:answer|respond|finish|complete|stay|fit|be done) (?:with)?in\b",
        r"\bhas no (?:support|look|way|concept|notion)\b|\bis built without\b",
    ),
    "convention": any_of(
        rf"^(?:in (?:this|our|the) \w+,? )?(?:all|every|each|any) [\w.-]+(?: [\w.-]+){{0,6}} {RULE}\b",
        r"\b(?:by|our|the|naming) convention\b|\bfollows? the (?:pattern|convention|scheme)\b",
        r"\bwe (?:always|never|usually) \w+",
        r"\bwe (?:name|call|put|store|prefix|group) .* (?:like|in|into|under|as|with|by|next to)\b",
        r"^(?:each|every) [\w.-]+(?: [\w.-]+)? (?!has been|was)\w+s (?!in \d)",
        r"\b(?:is|are) (?:mandatory|required) for (?:all|every|each)\b|\b(?:is|are) not used anywhere\b",
        r"^(?!i\b|you\b|it\b|this\b|that\b|we\b|they\b)[\w.\s-]{3,40} (?:must|have to|has to) (?:inherit|start|end|be"
        r"|have|use|go|live|follow|extend|implement|return)",
        r"\b(?:codebase|project|repo|repository) (?:uses|follows|has|keeps)\b",
        r"\bmirrors?\b|\b(?:is|are) (?:named|written in|prefixed|suffixed|upper ?case|lower ?case)\b",
    ),
    "workflow": any_of(
        r"^(?:to|before|after|whenever|when)\b.*\b(?:run|use|call|execute|need to)\b.*(?:`[^`]+`|[\w./-]+\.(?:sh"
        r"|py|mjs)\b)",
        r"^(?:after|before|when|whenever) .*\b(?:you|we) (?:have to|need to|must|should) (?:run|call|execute"
        r"|update|regenerate)\b",
        r"\bneeds? `[^`]+` (?:first|to|before|up|running)\b",
        r"^(?:always )?run `[^`]+` (?:after|before|when|whenever|first|each|every|to)\b",
        rf"\b(?:is|are) (?:{DONE}) (?:with|by|via) `[^`]+`",
        r"\b(?:deploys?|releases?|builds?|migrations?) (?:is|are) (?:triggered|started|run|done) (?:by|with|via"
        r"|from)\b",
    ),
    "structure": any_of(rf"\b{LIES}\b.*{PATH}", rf"{PATH}.*\b{LIES}\b"),
    # Whoever asks for it has it remembered, whatever it is. "Remember to …" is mostly a chore of the moment.
    "request": any_of(
        r"^(?:(?:and|also|but|so|please|ok(?:ay)?|now|then|oh)[, ]+)*(?:please )?"
        rf"{REMEMBER}(?: that |[:,] (?:that )?| (?=to (?:always|never)\b))\S.{{11,}}"
    ),
}

# What to skip, whatever cue it has.
AUXILIARY = "can|could|would|will|should|shall|do|does|did|is|are|was|were|have|has|may"
QUESTION = any_of(
    r"\?[\"')\]]*$",
    rf"^(?:{AUXILIARY}) (?:you|we|i|it|this|that|they|there|the)\b",
    r"^(?:why|what|who|where|which|how)\b",
)
HYPOTHETICAL = any_of(
    r"\b(?:maybe|perhaps|might|probably|possibly|not sure|don't know|no idea|seems?|looks like|could be"
    r"|imagine|suppose)\b",
    r"\b(?:i (?:think|guess|suppose|suspect|wonder)|(?:it|this|that) may be|what if|hypothetically|in theory)\b",
    r"^if (?:we|i|you|they)\b",
    r"\b(?:you|we|i) could\b|\bone option\b|\b(?:two|three|several|some) (?:ways|options)\b",
    r"\b(?:would|it'd) be (?:nice|great|good)\b",
    r"\bwe should (?:probably|look|consider|think|discuss)\b",
)
PASSING = any_of(
    r"\b(?:tomorrow|today|tonight|right now|this session|this time|some day|at some point|for the moment"
    r"|see you|be back)\b",
    r"\bin (?:an|a few|one) (?:hour|minute|moment)s?\b|\bworkaround for now\b|\blet me check\b|\bwe(?:'ll| will) see\b",
    r"\b(?:yet|first|again|next|now)[.!]?$",
    r"\b(?:console\.log|print statement|debug (?:value|output|print)|temporary|typo)\b|/tmp/",
    r"\bline \d+\b",
)
FILLER = r"^(?:(?:ok|okay|now|next|first|then|so|and|great|perfect|good|alright|done|yes|sure)[,!.: ]+)*"
STEPS = (
    "add|update|remove|use|used|read|rename|run|ran|check|look|start|try|create|write|fix|test|move|implement|go with"
    "|go ahead|updated|added|removed|renamed|created|fixed|moved|tested|tried|implemented|made|found|be back"
)
NARRATION = any_of(
    FILLER
    + r"(?:let me|here(?:'s| is| are)|i see\b|you're right|sorry|thanks|running|checking|looking|reading|done\b)",
    FILLER + r"let's (?:see|run|check|look|try|start|read|test|do|have|find|decide)\b",
    FILLER + rf"i(?:'ll| will|'m going to| am going to| need to| have| had|'ve| just)? (?:now |also )?(?:{STEPS})\b",
    r"\bi decided to (?:look|check|read|run|start|try|see|first|begin)\b",
    r"^(?:the user|user) (?:wants|asked|said)\b",
    r"^i(?:'m| am) (?:seeing|getting|now|still|reading|looking|running|checking)\b",
    r"^i want you to\b|^i want to (?:know|see|understand)\b|^i'd rather (?:look|see|check|wait|read)\b"
    r"|^i prefer not to\b",
    r"\blet's go with it\b|^that failed because i\b|^i have to go\b|^(?:do not|don't) worry\b",
    r"^(?:please )?(?:add|rename|open|show|fix|commit|push|continue|undo the|read|look|explain|write|create|implement"
    r"|remove|update) \w+",
)

SKIPS = {
    "output": OUTPUT,
    "question": QUESTION,
    "hypothetical": HYPOTHETICAL,
    "passing": PASSING,
    "narration": NARRATION,
}

# What raises or lowers a score.
REMEDY = any_of(
    r"\b(?:fixe[ds]|solve[ds]|resolve[ds]|the (?:fix|solution|remedy) (?:was|is)|frees|cures?|helped|works around)\b",
    r"\bcut (?:it|them|the)\b",
)
REASON = any_of(r"\b(?:because|since|so that|as it|in order to|otherwise|therefore|which is why)\b", r", so\b", r"; ")
CONTRAST = any_of(r"\b(?:instead of|rather than|not|never|over|no longer|in favou?r of)\b")
VAGUE = any_of(r"^(?:it|this|that|these|those|they|he|she|there)\b", r"\b(?:stuff|things?|somehow|something)\b")
SHORT_NO = any_of(
    r"^(?:no|nope|wrong|stop|not like that|that's wrong|that's not right|not quite|not what i (?:meant|asked))\W*$"
)

# What announces a sentence and is left out of its title.
MARKERS = re.compile(
    r"^(?:(?:actually|please|and|but|so|it turned out that|it turns out that|turns out|from now on|going forward"
    r"|as agreed)[,:\s]+|(?:ok(?:ay)?|agreed|final call|(?:final )?decision|decided|no|nope|wrong|fixed|root cause"
    r"|that's wrong|todo[^:]{0,20})(?:[,:;.]| [–—-])\s*"
    rf"|{REMEMBER}(?:[:,]? that\b|[:,]| to\b)\s*)+",
    re.IGNORECASE,
)
CHOOSING = re.compile(
    r"^(?:after [^,]{3,40}, )?(?:we|i|the team)(?:'ve| have)? (?:finally |all )?(?:decided|agreed|opted)(?: to| on| for"
    r"| that)? |^(?:let's|we'll|we will|we are going to|we're going to) ",
    re.IGNORECASE,
)
REASONS = re.compile(r" because | since | so that |, so |, which |; | - | – ")

# What is chosen or ruled out: "pnpm, not npm", "Postgres instead of MySQL", "apsw over sqlite3".
PAIR = re.compile(
    r"([\w.@-]{2,30})(?:, (?:not|never)|,? (?:instead of|rather than|over|in favou?r of))(?: in| to| the"
    r"| an?)? ([\w.@-]{2,30})"
)

# Words that announce something and are not its subject.
ANNOUNCING = word_set(
    """
    actually agreed always bug called cause caused chose chosen decide decided decision defined fixed holds live
    lives never nope opted picked prefer preference promised rather reason registered repo settled settles
    solved standardised standardized team told turned turns undo wrong
    """
)
WORKING_WITH, WORKING_ON = "When working with", "When working on"  # how conditions begin
